package readiness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// The states of a durable that another process runs, as a [Probe] sees it.
const (
	Consumable    State = "consumable"
	NotConsumable State = "not-consumable"
	Unknown       State = "unknown" // it could not be told, so it is not ready either
)

// What a probe finds that is no error.
const (
	Paused  Class = "paused"  // until pause_until nothing is delivered
	Unbound Class = "unbound" // nobody takes messages
)

// A Probe asks whether durables that another process runs can be consumed now. It
// is for those that can not ask the process, such as `natsmig ready`; a process
// that runs the consumer has a [Gate], which knows more and asks nobody.
//
// A Probe changes nothing, keeps nothing, and does not repeat: whoever asks does.
// It leaves the connection's error handler alone, so that the connection may be
// shared.
type Probe struct {
	JS jetstream.JetStream
	// Timeout bounds the whole of Ask. Zero: 2 s. Below 500 ms a cluster without a
	// leader may not answer in time: its servers wait for that long, so that a
	// leader could (errRespDelay, jetstream_api.go:1216 of nats-server 2.15.3).
	Timeout time.Duration
	// RequireBound wants somebody to take messages. Of a push consumer the server
	// says so (push_bound). Of a pull consumer it counts the pulls that wait
	// (num_waiting), and none waits while all workers are busy: then a message that
	// was delivered within ack_wait and is not settled does, too.
	RequireBound bool
	// AllowPaused takes a consumer that is paused as consumable. False does not,
	// for nothing is delivered; it is then told until when.
	AllowPaused bool
}

// Ask makes one request for each durable, CONSUMER.INFO, and waits for the replies
// together. Sending takes one round trip each, to hear of a refusal at once.
//
// A member is Consumable if the consumer exists, has a leader with a majority where
// it has a cluster, and meets what the probe requires. It is NotConsumable if a reply says
// otherwise. It is Unknown, with what is known of the reason, if there is no
// reply, a permission is denied, JetStream is not there, or the reply is about
// neither. The verdict is OK if there are durables, and all are Consumable.
func (p Probe) Ask(ctx context.Context, durables ...Durable) Verdict {
	timeout := cmp.Or(p.Timeout, 2*time.Second)
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("no answer within %v", timeout))
	defer cancel()
	v := Verdict{OK: len(durables) > 0, Members: make([]Status, len(durables))}
	if !v.OK {
		v.Reason = "no consumers"
	}
	for i, a := range ask(ctx, p.JS, durables) {
		s := p.judge(durables[i], a)
		if !s.Ready && v.OK {
			v.OK, v.Reason = false, fmt.Sprintf("%s is %s: %s", s.Name, s.State, s.Reason)
		}
		v.Members[i] = s
	}
	return v
}

// judge makes a status of an answer.
func (p Probe) judge(d Durable, a answer) Status {
	s := Status{Name: d.String(), State: Unknown, Since: time.Now()}
	if a.err != nil {
		s.Class, s.Reason = Classify(a.err), reason(a.err)
		if final(a.err) {
			s.State = NotConsumable
		}
		return s
	}
	s.Created, s.Paused = at(a.info.Created), a.info.Paused
	s.Class, s.Reason = p.lacks(a.info)
	s.Ready = s.Class == None
	s.State = NotConsumable
	if s.Ready {
		s.State = Consumable
	}
	return s
}

// reason is short, for what shows the output of a probe may cut it.
func reason(err error) string {
	var api *jetstream.APIError
	if errors.As(err, &api) && api.Description != "" {
		return fmt.Sprintf("%s (%d)", api.Description, api.ErrorCode)
	}
	return err.Error()
}

// final says whether an error is an answer about the consumer. What is about
// JetStream, the account or the connection is none: the consumer may be well.
func final(err error) bool {
	var api *jetstream.APIError
	if !errors.As(err, &api) {
		return false
	}
	offline := []jetstream.ErrorCode{10118, 10119, 10194, 10195} // stream or consumer, without a reason and with one
	c := Classify(err)
	return c.Missing() || c == NoQuorum || slices.Contains(offline, api.ErrorCode)
}

// lacks is what a consumer needs to be consumed from.
func (p Probe) lacks(info *jetstream.ConsumerInfo) (Class, string) {
	without := leaderless(info.Cluster)
	switch {
	case without != "":
		return NoQuorum, without
	case info.Paused && !p.AllowPaused:
		return Paused, paused(info)
	case !p.RequireBound || taken(info):
		if info.Paused {
			return None, paused(info)
		}
		return None, ""
	case info.Config.DeliverSubject != "":
		return Unbound, "nobody is subscribed: push_bound is false"
	}
	return Unbound, "nobody pulls: num_waiting is 0, and nothing delivered within ack_wait is unsettled"
}

// leaderless says why nobody leads the consumer, empty if somebody does. A leader
// that has lost the majority of its peers answers on as the leader for 20 s (seen
// on nats-server 2.15.3), and meanwhile knows that they are offline.
func leaderless(c *jetstream.ClusterInfo) string {
	if c == nil {
		return "" // not a cluster
	}
	if c.Leader == "" {
		return "the consumer has no leader"
	}
	peers, offline := 1+len(c.Replicas), 0
	for _, r := range c.Replicas {
		if r.Offline {
			offline++
		}
	}
	if peers-offline > peers/2 {
		return ""
	}
	return fmt.Sprintf("%d of the consumer's %d servers are offline", offline, peers)
}

func paused(info *jetstream.ConsumerInfo) string {
	if info.Config.PauseUntil == nil {
		return "paused"
	}
	return "paused until " + info.Config.PauseUntil.UTC().Format(time.RFC3339)
}

// taken says whether somebody takes messages. Servers before 2.10 do not tell
// their time, and without it nothing is known of what was delivered when.
func taken(info *jetstream.ConsumerInfo) bool {
	if info.Config.DeliverSubject != "" {
		return info.PushBound
	}
	last := info.Delivered.Last
	working := info.NumAckPending > 0 && last != nil && !info.TimeStamp.IsZero() && info.TimeStamp.Sub(*last) < info.Config.AckWait
	return info.NumWaiting > 0 || working
}
