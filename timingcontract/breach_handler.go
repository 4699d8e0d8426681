package timingcontract

import (
	"fmt"
	"time"
)

func budgetOverRung(c *Contract) *Breach {
	h := &c.Handler
	if h.Heartbeat.Every > 0 {
		return nil
	}
	for n := 1; n <= c.attempts(); n++ {
		if rung := c.timer(n); h.Budget > rung {
			return &Breach{
				Kind: BudgetOverRung, Field: "handler.budget", Delivery: n,
				Left: term("budget", h.Budget, FromHandler), Relation: ">", Right: c.rungTerm(n),
				Message: fmt.Sprintf("an attempt may take %s, but the broker waits %s for delivery %d: the message is delivered again while it is being handled", Duration(h.Budget), Duration(rung), n),
				Source:  "checkPending, consumer.go:6304, nats-server 2.15.3",
				Fix:     fmt.Sprintf("send a heartbeat every %s, or raise the wait over the budget", Duration(third(rung))),
			}
		}
	}
	return nil
}

// shortestRung is the delivery that is waited for least.
func (c *Contract) shortestRung() int {
	shortest := 1
	for n := 2; n <= c.attempts(); n++ {
		if c.timer(n) < c.timer(shortest) {
			shortest = n
		}
	}
	return shortest
}

func slowHeartbeat(c *Contract) *Breach {
	h, n := &c.Handler, c.shortestRung()
	rung := c.timer(n)
	if h.Heartbeat.Every < rung || h.Heartbeat.Every == 0 || h.Budget > 0 && h.Budget <= rung {
		return nil
	}
	return &Breach{
		Kind: SlowHeartbeat, Field: "handler.heartbeat", Delivery: n,
		Left: term("heartbeat.every", h.Heartbeat.Every, FromHandler), Relation: ">=", Right: c.rungTerm(n),
		Message: fmt.Sprintf("the first heartbeat comes after %s, but the broker waits %s for delivery %d: it comes too late, and the message is delivered again", Duration(h.Heartbeat.Every), Duration(rung), n),
		Source:  "progressUpdate resets the clock of the current rung, consumer.go:2935, nats-server 2.15.3",
		Fix:     fmt.Sprintf("send a heartbeat every %s at most", Duration(third(rung))),
	}
}

func shortHeartbeat(c *Contract) *Breach {
	h := &c.Handler
	if h.Heartbeat.Cap == 0 || h.Heartbeat.Cap >= h.Budget {
		return nil
	}
	for n := 1; n <= c.attempts(); n++ {
		if lease := c.lease(n); h.Heartbeat.Every < c.timer(n) && lease < h.Budget {
			return &Breach{
				Kind: ShortHeartbeat, Field: "handler.heartbeat", Delivery: n,
				Left: term("heartbeat.cap + "+c.rungTerm(n).Name, lease, FromContract), Relation: "<", Right: term("budget", h.Budget, FromHandler),
				Message: fmt.Sprintf("the heartbeat is kept up for %s, so delivery %d is safe for %s, but an attempt may take %s: the message is delivered again while it is being handled", Duration(h.Heartbeat.Cap), n, Duration(lease), Duration(h.Budget)),
				Source:  "checkPending, consumer.go:6304, nats-server 2.15.3",
				Fix:     fmt.Sprintf("keep the heartbeat up for %s, or make the wait longer", Duration(h.Budget)),
			}
		}
	}
	return nil
}

func deepPrefetch(c *Contract) *Breach {
	h, rung := &c.Handler, c.timer(1)
	workers := h.workers()
	if h.Prefetch <= workers || h.Budget == 0 {
		return nil
	}
	rounds := (h.Prefetch + workers - 1) / workers
	if h.Heartbeat.Every > 0 { // holds the lease once the handler has the message
		rounds--
	}
	wait := times(h.Budget, rounds)
	if wait <= rung {
		return nil
	}
	return &Breach{
		Kind: DeepPrefetch, Field: "handler.prefetch", Delivery: 1,
		Left: term("prefetch × budget ÷ workers", wait, FromHandler), Relation: ">", Right: c.rungTerm(1),
		Message: fmt.Sprintf("the last of %d messages held waits up to %s in the process, and the broker %s: messages are delivered again before they are looked at", h.Prefetch, Duration(wait), Duration(rung)),
		Source:  "the clock starts when the server sends, deliverMsg and trackPending, consumer.go:6160, nats-server 2.15.3",
		Fix:     prefetchFix(h, rung),
	}
}

// prefetchFix leaves half of the wait as a margin.
func prefetchFix(h *Handler, rung time.Duration) string {
	half := max(rung/2, 1)
	fits := max(int(half/h.Budget)*h.workers(), h.workers())
	needed := (times(h.Budget, h.Prefetch) + half - 1) / half
	return fmt.Sprintf("prefetch at most %d, or handle at least %d at a time", fits, needed)
}

func longDrain(c *Contract) *Breach {
	h := &c.Handler
	if h.Grace == 0 || h.Budget == 0 {
		return nil
	}
	rounds := max((h.Prefetch+h.workers()-1)/h.workers(), 1)
	drain := times(h.Budget, rounds)
	if drain <= h.Grace {
		return nil
	}
	return &Breach{
		Kind: LongDrain, Field: "handler.grace",
		Left: term("drain", drain, FromHandler), Relation: ">", Right: term("grace", h.Grace, FromHandler),
		Message: fmt.Sprintf("a process that stops has %s, and what it holds may take %s: it is killed at work, the message waits for its rung and a delivery is spent", Duration(h.Grace), Duration(drain)),
		Source:  "the process and what runs it (terminationGracePeriodSeconds)",
		Fix:     fmt.Sprintf("give the process %s, hold fewer messages, or make the attempt stop early", Duration(drain)),
	}
}

func slowRecovery(c *Contract) *Breach {
	h := &c.Handler
	for n := 1; h.Recovery > 0 && n <= c.attempts(); n++ {
		rung := c.timer(n)
		if rung <= h.Recovery {
			continue
		}
		beat := third(h.Recovery * 3 / 4)
		return &Breach{
			Kind: SlowRecovery, Field: "handler.recovery", Delivery: n,
			Left: c.rungTerm(n), Relation: ">", Right: term("recovery", h.Recovery, FromHandler),
			Message: fmt.Sprintf("when a process dies with delivery %d, the message comes again after %s, and was wanted after %s: the broker does not link deliveries to connections", n, Duration(rung), Duration(h.Recovery)),
			Source:  "checkPending, consumer.go:6304, nats-server 2.15.3",
			Fix:     fmt.Sprintf("ack_wait %s with a heartbeat every %s", Duration(beat*3), Duration(beat)),
		}
	}
	return nil
}
