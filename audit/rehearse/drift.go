package rehearse

import (
	"fmt"
	"strings"

	"github.com/natsmig/natsmig/audit"
	"github.com/natsmig/natsmig/audit/broker"
)

// see takes the rebuilt cell as it was read back. It keeps the cell's own place
// and what could not be seen of it, which decide what is asked; and it finds what
// is not as it is live.
func (c *cell) see(now *audit.CellView) {
	was := c.was
	now.Cluster, now.Domain, now.Account = was.Cluster, was.Domain, was.Account
	now.Missing, now.Complete = was.Missing, was.Complete
	c.now = now
	for _, s := range was.Streams {
		if c.made[s.Name] != nil {
			c.seeStream(s, now.Stream(s.Name))
		}
	}
}

func (c *cell) seeStream(was, now *audit.StreamView) {
	if now == nil {
		c.leaveOut(was.Name, "the rehearsal's broker lost the stream")
		return
	}
	now.Assumed = was.Assumed // then nobody knows what a stream's declaration would meet
	live, got := was.Config.Canonical(), now.Config.Canonical()
	live.Placement = nil // told already
	c.drift(was.Name, driftOf(broker.StreamFields(), &live, &got))
	for _, k := range was.Consumers {
		if c.made[was.Name].consumers[k.Name] != nil {
			c.seeConsumer(was, k, now.Consumer(k.Name))
		}
	}
}

func (c *cell) seeConsumer(s *audit.StreamView, was, now *audit.ConsumerView) {
	name := s.Name + "/" + was.Name
	if now == nil {
		c.leaveOut(name, "the rehearsal's broker lost the consumer")
		return
	}
	live, got := was.Config.Canonical(s.Config.Replicas), now.Config.Canonical(s.Config.Replicas)
	c.drift(name, driftOf(broker.ConsumerFields(), &live, &got))
}

// A drift is what became of a live config on the rehearsal's broker.
type drift struct {
	filled  []string // fields that the snapshot leaves out, and the broker filled in
	changed []string // fields that the broker stores otherwise, with both values
}

func driftOf[C any](fields []broker.Field[C], live, got *C) drift {
	var zero C
	var d drift
	for _, f := range broker.Differing(fields, live, got) {
		if f.Same(live, &zero) {
			d.filled = append(d.filled, f.Name)
			continue
		}
		d.changed = append(d.changed, fmt.Sprintf("%s %s is stored as %s", f.Name, audit.Show(f.Get(live)), audit.Show(f.Get(got))))
	}
	return d
}

// drift tells it. What is stored otherwise would be another question.
func (c *cell) drift(name string, d drift) {
	if len(d.filled) > 0 {
		c.note(name, "the snapshot leaves out "+strings.Join(d.filled, ", ")+": rehearsed with the broker's defaults")
	}
	if len(d.changed) > 0 {
		c.leaveOut(name, "the rehearsal's broker does not take the live config as it is: "+strings.Join(d.changed, "; "))
	}
}
