package broker_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/natsmig/natsmig/audit/broker"
)

// An answer is what a broker said: a configuration or an error.
type answer struct {
	config json.RawMessage
	err    *broker.APIError
	// lost: a cluster said nothing, or answered a question of its own. Requests
	// get lost that meet a stream whose replicas are still coming up, on the old
	// lines more often, and a stream that its leader could not create.
	lost bool
}

// tries is how often a pair is played again to make it smaller.
func (x *target) tries() int {
	if x.model.Clustered {
		return 40 // where creating and deleting takes long
	}
	return 300
}

// ask sends a request, again where the broker is not yet where it says it is:
// the store of a stream that was just deleted is still in the way, a server of a
// cluster has not heard of a stream that another one has just made, or has not
// heard of a peer for a moment.
func (x *target) ask(t *testing.T, subject string, payload []byte) answer {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); <-tick.C {
		got := x.askOnce(t, subject, payload)
		if !x.early(subject, got.err) {
			return got
		}
	}
	t.Fatalf("%s %s: the broker does not get there", subject, payload)
	return answer{}
}

func (x *target) early(subject string, err *broker.APIError) bool {
	switch {
	case err == nil:
		return false
	case x.model.Clustered && err.ErrCode == 10005:
		return strings.Contains(err.Description, "offline")
	case x.model.Clustered && strings.Contains(subject, ".CONSUMER."):
		return err.ErrCode == 10059 // no game asks for a consumer of a stream that is not there
	}
	return err.Description == "error creating store for stream"
}

func (x *target) askOnce(t *testing.T, subject string, payload []byte) answer {
	t.Helper()
	patience := 20 * time.Second
	if x.model.Clustered {
		patience = 8 * time.Second
	}
	msg, err := x.nc.Request(subject, payload, patience)
	if errors.Is(err, nats.ErrTimeout) && x.model.Clustered {
		t.Logf("no answer to %s %s", subject, payload)
		return answer{lost: true}
	}
	if err != nil {
		t.Fatalf("%s %s: %v", subject, payload, err)
	}
	var reply struct {
		Type   string
		Error  *broker.APIError
		Config json.RawMessage
	}
	if err := json.Unmarshal(msg.Data, &reply); err != nil {
		t.Fatalf("%s: reply %s: %v", subject, msg.Data, err)
	}
	cleanUp := strings.HasSuffix(reply.Type, "stream_delete_response") && !strings.Contains(subject, "DELETE")
	empty := reply.Error == nil && reply.Config == nil && !strings.Contains(subject, "DELETE")
	if x.model.Clustered && (cleanUp || empty) {
		t.Logf("%s is the answer to %s %s", msg.Data, subject, payload)
		return answer{lost: true}
	}
	if empty {
		t.Fatalf("%s %s: reply %s", subject, payload, msg.Data)
	}
	return answer{config: reply.Config, err: reply.Error}
}

// settle waits until a cluster has all replicas of a stream, which it has not
// when it answers that it will. An old cluster may lose the stream on the way.
func (x *target) settle(t *testing.T, config json.RawMessage) (ok bool) {
	t.Helper()
	if !x.model.Clustered {
		return true
	}
	c := decodeStream(t, config)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); <-tick.C {
		if x.settled(c.Name, max(c.Replicas, 1)) == nil {
			return true
		}
	}
	t.Logf("stream %s does not settle", c.Name)
	return false
}

func (x *target) settled(name string, replicas int) error {
	msg, err := x.nc.Request("$JS.API.STREAM.INFO."+name, nil, 2*time.Second)
	if err != nil {
		return err
	}
	var info struct {
		Cluster struct {
			Leader   string
			Replicas []struct{ Current, Offline bool }
		}
	}
	if err := json.Unmarshal(msg.Data, &info); err != nil {
		return err
	}
	current := 0
	for _, r := range info.Cluster.Replicas {
		if r.Current && !r.Offline {
			current++
		}
	}
	if info.Cluster.Leader == "" || current != replicas-1 || len(info.Cluster.Replicas) != current {
		return fmt.Errorf("stream %s is not settled: %s", name, msg.Data)
	}
	return nil
}

// clean deletes every stream.
func (x *target) clean(t *testing.T) {
	t.Helper()
	msg, err := x.nc.Request("$JS.API.STREAM.NAMES", nil, 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	var names struct{ Streams []string }
	if err := json.Unmarshal(msg.Data, &names); err != nil {
		t.Fatal(err)
	}
	for _, n := range names.Streams {
		x.deleteStream(t, n)
	}
}

// deleteStream asks again where no answer comes.
func (x *target) deleteStream(t *testing.T, name string) {
	t.Helper()
	for range 8 {
		if _, err := x.nc.Request("$JS.API.STREAM.DELETE."+name, nil, 3*time.Second); err == nil {
			return
		}
	}
	t.Fatalf("stream %s can not be deleted", name)
}
