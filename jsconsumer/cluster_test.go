package jsconsumer_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/natsmig/natsmig/jsconsumer"
	"github.com/natsmig/natsmig/natstest"
)

// replicated is a runner on a durable with three replicas.
func replicated(t *testing.T, c *natstest.Cluster) *fault {
	t.Helper()
	f := &fault{bench: on(t, c.Client)}
	f.stream(jetstream.StreamConfig{Name: "S", Subjects: []string{"s.>"}, Replicas: 3})
	f.publish(0, 100)
	f.start(jsconsumer.Config{Hooks: f.hooks(), Expires: time.Second, Workers: 4}, func(_ context.Context, d jsconsumer.Delivery) jsconsumer.Disposition {
		f.saw(d.Data())
		return jsconsumer.Ack()
	})
	f.sees(0, 100)
	f.ready(true)
	return f
}

func TestLeaderStepsDown(t *testing.T) {
	c := natstest.StartCluster(t, 3)
	f := replicated(t, c)
	for i := range 3 {
		before := c.ConsumerLeader("", "S", "d")
		_, err := f.NC.Request("$JS.API.CONSUMER.LEADER.STEPDOWN.S.d", nil, 5*time.Second)
		f.must(err)
		f.until("another leader", func() bool { return c.ConsumerLeader("", "S", "d") != before })
		f.publish(100+10*i, 110+10*i)
		f.sees(100+10*i, 110+10*i)
	}
	f.ready(true)
	if f.has("report loud") || f.has("lost") {
		t.Errorf("a change of leaders is no failure:\n%s", strings.Join(f.all(), "\n"))
	}
	f.quietEnd()
}

func TestQuorumLostAndBack(t *testing.T) {
	c := natstest.StartCluster(t, 3)
	f := replicated(t, c)
	for _, b := range c.Brokers[1:] {
		b.Stop()
	}
	f.ready(false)
	f.waitFor("report loud")
	for _, b := range c.Brokers[1:] {
		b.Restart()
	}
	c.WaitReady()
	f.publish(100, 110)
	f.sees(100, 110)
	f.ready(true)
	if f.has("lost") || f.has("recreated") {
		t.Errorf("the durable was there all the time:\n%s", strings.Join(f.all(), "\n"))
	}
	f.quietEnd()
}
