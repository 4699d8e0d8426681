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
	f.start(jsconsumer.Config{Hooks: f.hooks(), Expires: time.Second, Workers: 4, Consumer: jetstream.ConsumerConfig{AckWait: 2 * time.Second}}, func(_ context.Context, d jsconsumer.Delivery) jsconsumer.Disposition {
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

// TestServersKilledOnACluster kills the server that the client is connected to, and
// then the one that leads the durable.
func TestServersKilledOnACluster(t *testing.T) {
	c := natstest.StartCluster(t, 3, natstest.WithBinary(self(t)))
	f := replicated(t, c)
	for i, victim := range []func() *natstest.Broker{
		func() *natstest.Broker { return connected(c) },
		func() *natstest.Broker { return c.ConsumerLeader("", "S", "d") },
	} {
		b := victim()
		b.Kill()
		f.publishOn(c, 100+10*i, 110+10*i)
		f.sees(100+10*i, 110+10*i)
		f.ready(true)
		b.Restart()
		c.WaitReady()
	}
	if f.has("lost") || f.has("recreated") || f.has("rolled back") {
		t.Errorf("the durable was there all the time:\n%s", strings.Join(f.all(), "\n"))
	}
	f.until("acknowledged", func() bool { return f.info().NumAckPending == 0 })
	f.quietEnd()
}

// connected is the broker that the client is connected to.
func connected(c *natstest.Cluster) *natstest.Broker {
	for _, b := range c.Brokers {
		if b.Name() == c.NC.ConnectedServerName() {
			return b
		}
	}
	return nil
}

// publishOn publishes when the stream has a leader again.
func (f *fault) publishOn(c *natstest.Cluster, from, to int) {
	f.t.Helper()
	c.WaitConnected(10 * time.Second)
	f.until("the stream answers", func() bool {
		_, err := f.JS.Publish(f.t.Context(), "s.again", []byte("again"))
		return err == nil
	})
	f.publish(from, to)
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
