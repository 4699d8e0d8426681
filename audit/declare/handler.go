package declare

import (
	"strings"

	"github.com/natsmig/natsmig/internal/strictyaml"
	"github.com/natsmig/natsmig/timingcontract"
)

// handler reads the section that says what the process does on failure, and
// notes where its keys stand. Nil: there is none.
func (r *reader) handler(o *strictyaml.Object, b *draft) *timingcontract.Handler {
	n := o.Node("handler")
	if n == nil {
		return nil
	}
	h := &timingcontract.Handler{}
	c := r.errs.Object(n, o.Path("handler"))
	schedule(c, h)
	expectations(c, h)
	c.Done()
	b.at["handler"] = r.position(n)
	for _, p := range n.Pairs {
		b.at["handler."+p.Key] = r.position(p.Value)
	}
	if c.There() {
		if err := h.Check(); err != nil {
			for line := range strings.SplitSeq(err.Error(), "\n") {
				r.errs.Add(n, o.Path("handler"), "%s", line)
			}
		}
	}
	return h
}

// schedule reads who schedules the retry, and what an attempt takes.
func schedule(c *strictyaml.Object, h *timingcontract.Handler) {
	on := string(timingcontract.Ladder)
	c.OneOf("on_failure", &on, h.OnFailure.Names())
	h.OnFailure = timingcontract.OnFailure(on)
	if d := c.Node("delay"); d != nil {
		h.Delays = append(h.Delays, 0)
		c.Duration("delay", &h.Delays[0])
	}
	c.Durations("delays", &h.Delays)
	c.Duration("budget", &h.Budget)
	beat := c.Object("heartbeat")
	beat.Duration("every", &h.Heartbeat.Every)
	beat.Duration("cap", &h.Heartbeat.Cap)
	beat.Done()
	c.Int("reserve", &h.Reserve)
	c.Text("capture", &h.Capture)
	c.Int("prefetch", &h.Prefetch)
	c.Int("workers", &h.Workers)
	c.Duration("pull_gap", &h.PullGap)
	c.Text("publishes", &h.Publishes)
}

// expectations reads what the team counts on.
func expectations(c *strictyaml.Object, h *timingcontract.Handler) {
	c.Duration("failing_every", &h.FailingEvery)
	c.Duration("recovery", &h.Recovery)
	c.Duration("outage", &h.Outage)
	c.Duration("pin", &h.Pin)
	c.Duration("grace", &h.Grace)
}
