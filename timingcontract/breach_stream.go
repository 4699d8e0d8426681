package timingcontract

import (
	"fmt"
	"time"
)

// longest is how long the broker may hold a message before it gives it up, 0
// where that is not known.
func (c *Contract) longest() time.Duration {
	all := c.residency()
	if all == 0 || c.Handler.OnFailure == Discard || c.uniform() {
		return all
	}
	for _, of := range Cases() {
		wait := func(n int) time.Duration { return c.step(of, n).wait }
		all = max(all, add(c.sum(c.MaxDeliver, wait), wait(c.MaxDeliver)))
	}
	return all
}

func outlivesMaxAge(c *Contract, s *Surroundings) *Breach {
	if s.MaxAge == 0 {
		return nil
	}
	residency, longest := c.residency(), c.longest()
	if longest <= s.MaxAge {
		return nil
	}
	b := &Breach{
		Kind: OutlivesMaxAge, Field: "max_deliver",
		Left: term("residency", residency, FromContract), Relation: ">", Right: term("max_age", s.MaxAge, FromStream),
		Message: fmt.Sprintf("a failing message is given up after %s, but the stream deletes it after %s (max_age): it vanishes %s too soon, and the advisory is MSG_TERMINATED, so what listens for MAX_DELIVERIES misses it", Duration(longest), Duration(s.MaxAge), Duration(longest-s.MaxAge)),
		Source:  "decStreamPending, consumer.go:7208, nats-server 2.15.3",
		Fix:     "shorten backoff or lower max_deliver until the envelope fits, or raise the stream's max_age",
	}
	if residency <= s.MaxAge { // all attempts fit, and the advisory does not
		b.Left = term("exhausted", longest, FromContract)
	}
	return b
}

// Margin is what the stream's max_age leaves over the residency: how much either
// may move before a message vanishes that is still being retried. Negative: it
// does. The error says that there is no margin to tell: no max_age, or no bound
// of the residency.
func (c Contract) Margin(s Surroundings) (time.Duration, error) {
	r := c.residency()
	switch {
	case s.MaxAge == 0:
		return 0, fmt.Errorf("the stream has no max_age")
	case r == 0:
		return 0, fmt.Errorf("a failing message can stay for ever")
	}
	return s.MaxAge - r, nil
}

func noCapture(c *Contract) *Breach {
	h := &c.Handler
	if h.Reserve == 0 {
		return nil
	}
	b := &Breach{
		Kind: NoCapture, Field: "handler.reserve",
		Left: count("reserve", h.Reserve, FromHandler), Relation: ">", Right: Term{"captures", "0", FromHandler},
		Source: "the handler",
	}
	switch {
	case c.MaxDeliver > 0 && h.Reserve >= c.MaxDeliver:
		b.Relation, b.Right = ">=", count("max_deliver", c.MaxDeliver, FromConsumer)
		b.Message, b.Fix = "the reserve takes every delivery: the handler never sees a message", fmt.Sprintf("raise max_deliver over %d, or lower the reserve", h.Reserve)
	case c.MaxDeliver < 1:
		b.Right = Term{"max_deliver", "unlimited", FromConsumer}
		b.Relation = "<"
		b.Message, b.Fix = "deliveries are kept for the capture, and there is no last delivery: nothing is ever captured", "set max_deliver"
	case h.Capture == "":
		b.Message, b.Fix = fmt.Sprintf("the last %d deliveries are kept for a capture, and none is named: they are spent on nothing", h.Reserve), "name the capture, or drop the reserve"
	default:
		return nil
	}
	return b
}

func noReserve(c *Contract) *Breach {
	h := &c.Handler
	if h.Capture == "" || h.Reserve > 0 || h.OnFailure == Discard {
		return nil
	}
	return &Breach{
		Kind: NoReserve, Field: "handler.capture",
		Left: Term{"captures", "1", FromHandler}, Relation: ">", Right: count("reserve", 0, FromHandler),
		Message: fmt.Sprintf("failing messages are captured to %s, and no delivery is kept for that: a last attempt that times out is given up without a capture", h.Capture),
		Source:  "getNextMsg, consumer.go:5146, nats-server 2.15.3",
		Fix:     "keep a reserve of two, and raise max_deliver by as many",
	}
}

func thinReserve(c *Contract) *Breach {
	h := &c.Handler
	if h.Reserve != 1 || h.Capture == "" {
		return nil
	}
	return &Breach{
		Kind: ThinReserve, Field: "handler.reserve", Risk: true,
		Left: count("reserve", 1, FromHandler), Relation: "<", Right: Term{"deliveries that a lost capture needs", "2", FromHandler},
		Message: "the capture has one delivery: if its publish fails or the process dies, the message is given up with only an advisory",
		Source:  "getNextMsg, consumer.go:5146, nats-server 2.15.3",
		Fix:     "reserve two, or hold the message (in progress) until the capture is acknowledged",
	}
}

func pinnedFloor(c *Contract, s *Surroundings) *Breach {
	h := &c.Handler
	if h.Pin == 0 || s.Consumers == 1 {
		return nil
	}
	left, longest := term("exhausted", c.longest(), FromContract), c.longest()
	switch {
	case longest == 0:
		left.Value = "never"
	case longest <= h.Pin:
		return nil
	}
	return &Breach{
		Kind: PinnedFloor, Field: "handler.pin",
		Left: left, Relation: ">", Right: term("pin", h.Pin, FromHandler),
		Message: fmt.Sprintf("one failing message can hold the ack floor for %s on a stream that others share, and %s was the bound", orEver(longest), Duration(h.Pin)),
		Source:  "the floor moves when the message is acknowledged, terminated or given up, getNextMsg, consumer.go:5146, nats-server 2.15.3",
		Fix:     "shorten the schedule, or capture earlier",
	}
}

func orEver(d time.Duration) string {
	if d == 0 {
		return "ever"
	}
	return Duration(d)
}

func fullAckPending(c *Contract) *Breach {
	h := &c.Handler
	if h.FailingEvery == 0 || c.MaxAckPending < 1 || h.OnFailure == Nak || h.OnFailure == Discard {
		return nil
	}
	wait := c.meanWait()
	waiting, free := wait/h.FailingEvery, max(c.MaxAckPending-max(h.Prefetch, h.workers()), 0)
	if waiting <= time.Duration(free) {
		return nil
	}
	return &Breach{
		Kind: FullAckPending, Field: "max_ack_pending",
		Left: count("failing messages waiting", int(waiting), FromContract), Relation: ">", Right: count("free max_ack_pending", free, FromConsumer),
		Message: fmt.Sprintf("a message fails every %s and waits %s, and stays pending: %d of them wait at a time, over %d free places, so delivery stops after about %s", Duration(h.FailingEvery), Duration(wait), waiting, free, Duration(times(h.FailingEvery, free))),
		Source:  "getNextMsg, consumer.go:5189, nats-server 2.15.3",
		Fix:     fmt.Sprintf("raise max_ack_pending to %d, or move long waits to another stream", int(waiting)+c.MaxAckPending-free),
	}
}

// meanWait is the wait after a delivery in the mean.
func (c *Contract) meanWait() time.Duration {
	if c.MaxDeliver < 1 {
		return c.instantly(c.steady())
	}
	return add(c.offset(c.MaxDeliver), c.instantly(c.MaxDeliver)) / time.Duration(c.MaxDeliver)
}

func strandedMessages(c *Contract, s *Surroundings) *Breach {
	h := &c.Handler
	if s.Retention != WorkQueue || c.MaxDeliver < 1 || h.OnFailure == Discard || h.Capture != "" && h.Reserve > 0 {
		return nil
	}
	left := Term{"max_age", "unlimited", FromStream}
	if s.MaxAge > 0 {
		left.Value = Duration(s.MaxAge)
	}
	return &Breach{
		Kind: StrandedMessages, Field: "max_deliver", Risk: true,
		Left: left, Relation: ">", Right: term("exhausted", c.longest(), FromContract),
		Message: fmt.Sprintf("a message that is given up stays in the work queue, out of reach of the consumer (%s): only its sequence in the MAX_DELIVERIES advisory leads to it", untilAge(s.MaxAge)),
		Source:  "getNextMsg drops it from pending and acknowledges nothing, consumer.go:5146, nats-server 2.15.3",
		Fix:     "capture or term on the last attempt, or have something read the advisories and delete by sequence",
	}
}

func untilAge(d time.Duration) string {
	if d == 0 {
		return "for good"
	}
	return "until it is " + Duration(d) + " old"
}

func deletedWhenIdle(c *Contract) *Breach {
	h, idle := &c.Handler, c.InactiveThreshold
	if idle == 0 || h.Outage <= idle && c.Line.since(11) {
		return nil
	}
	b := &Breach{
		Kind: DeletedWhenIdle, Field: "inactive_threshold",
		Left: term("inactive_threshold", idle, FromConsumer), Relation: "<",
		Source: "deleteNotActive, consumer.go:2253, nats-server 2.15.3",
	}
	gap := c.longestGap()
	switch {
	case h.Outage > idle:
		b.Right = term("outage", h.Outage, FromHandler)
		b.Message = fmt.Sprintf("an outage may last %s, but after %s without a pull the broker deletes the consumer: its position is lost, and an interest stream stops keeping messages for it", Duration(h.Outage), Duration(idle))
		b.Fix = "raise inactive_threshold over " + Duration(h.Outage)
	case gap > idle:
		b.Right = term("longest wait", gap, FromContract)
		b.Message = fmt.Sprintf("a retry may wait %s, but after %s without a pull a broker before 2.11 deletes the consumer, pending messages or not", Duration(gap), Duration(idle))
		b.Fix = "raise inactive_threshold over " + Duration(gap)
	default:
		return nil
	}
	return b
}

// longestGap is the longest wait between two deliveries.
func (c *Contract) longestGap() time.Duration {
	var longest time.Duration
	for n := 1; n <= c.steady() && (c.MaxDeliver < 1 || n < c.MaxDeliver); n++ {
		longest = max(longest, c.step(TimeOut, n).wait, c.step(Instant, n).wait)
	}
	return longest
}

func shortDedupWindow(c *Contract, s *Surroundings) *Breach {
	h := &c.Handler
	if h.Publishes == "" || s.DuplicateWindow == 0 {
		return nil
	}
	span := c.offset(max(c.lastAttempt(), 1))
	if c.MaxDeliver < 1 {
		span = c.longestGap()
	}
	if span <= s.DuplicateWindow {
		return nil
	}
	return &Breach{
		Kind: ShortDedupWindow, Field: "handler.publishes",
		Left: term("duplicate_window", s.DuplicateWindow, FromStream), Relation: "<", Right: term("last attempt", span, FromContract),
		Message: fmt.Sprintf("the handler publishes to %s, which forgets message IDs after %s, and may try again until %s after the first attempt: what it published then is stored twice", h.Publishes, Duration(s.DuplicateWindow), Duration(span)),
		Source:  "the window counts from the first message with the ID, stream.go (ddmap), nats-server 2.15.3",
		Fix:     fmt.Sprintf("raise the duplicate_window of %s over %s, or make the consumers of that stream idempotent", h.Publishes, Duration(span)),
	}
}
