package broker

import "time"

// An updateCheck is one field that an update may not change, and the words it
// is refused with: err_code 10012, which is the general failure of a create, so
// that only the text tells the reason (consumer.go:2572 checkNewConsumerConfig
// of 2.15.3).
type updateCheck struct {
	Check
	says string
	same func(b Broker, live, next *ConsumerConfig) bool
}

// updateChecks are in the broker's order. A row of its own stands for each
// field, so that a report can name them all though the broker names the first.
var updateChecks = []updateCheck{
	{check("deliver_policy", 0, 0, "consumer.go:2577"), "deliver policy can not be updated", sameBy(func(c *cc) DeliverPolicy { return c.DeliverPolicy })},
	{check("mem_storage", 14, 0, "consumer.go:2580").from(&storageStays), "storage type can not be updated", sameBy(func(c *cc) bool { return c.MemStorage })},
	{check("direct", 14, 0, "consumer.go:2585").from(&kindStays), "direct can not be updated", sameBy(func(c *cc) bool { return c.Direct })},
	{check("sourcing", 14, 0, "consumer.go:2588").from(&kindStays), "sourcing can not be updated", sameBy(func(c *cc) bool { return c.Sourcing })},
	{check("opt_start_seq", 0, 0, "consumer.go:2591"), "start sequence can not be updated", sameBy(func(c *cc) uint64 { return c.OptStartSeq })},
	{check("opt_start_time", 0, 0, "consumer.go:2594"), "start time can not be updated", sameStart},
	{check("ack_policy", 0, 0, "consumer.go:2603"), "ack policy can not be updated", sameBy(func(c *cc) AckPolicy { return c.AckPolicy })},
	{check("replay_policy", 0, 0, "consumer.go:2606"), "replay policy can not be updated", sameBy(func(c *cc) ReplayPolicy { return c.ReplayPolicy })},
	{check("idle_heartbeat", 0, 0, "consumer.go:2609"), "heart beats can not be updated", sameBy(func(c *cc) time.Duration { return c.IdleHeartbeat })},
	{check("flow_control", 0, 0, "consumer.go:2612"), "flow control can not be updated", sameBy(func(c *cc) bool { return c.FlowControl })},
}

var maxWaitingCheck = updateCheck{
	check("max_waiting", 0, 0, "consumer.go:2634"),
	"max waiting can not be updated",
	sameBy(func(c *cc) int { return c.MaxWaiting }),
}

// deliverCheck has no words of its own, see deliverRefusal.
var deliverCheck = updateCheck{Check: check("deliver_subject", 0, 0, "consumer.go:2617")}

func sameBy[T comparable](value func(*ConsumerConfig) T) func(Broker, *ConsumerConfig, *ConsumerConfig) bool {
	return func(_ Broker, live, next *ConsumerConfig) bool { return value(live) == value(next) }
}

// sameStart compares instants. On 2.9 the broker compares pointers, so any
// start time differs from any other.
func sameStart(b Broker, live, next *ConsumerConfig) bool {
	x, y := live.OptStartTime, next.OptStartTime
	if x == nil || y == nil {
		return x == y
	}
	return b.Version.AtLeast(10) && x.Equal(*y)
}

// updateRefusals lists every reason to refuse turning live into next, the
// broker's own answer first.
func (b Broker) updateRefusals(live *LiveConsumer, next *ConsumerConfig) []*refusal {
	if !b.Version.AtLeast(10) && !b.textDiffers(live.Config, next) {
		return nil // so that a start time does not differ from itself
	}
	var all []*refusal
	add := func(k *updateCheck) {
		if k.holds(b.Version) && !k.same(b, live.Config, next) {
			all = append(all, refuse(k.About, 500, 10012, k.says))
		}
	}
	for i := range updateChecks {
		add(&updateChecks[i])
	}
	if !b.Version.has(&waitsLast) {
		add(&maxWaitingCheck)
	}
	if no := b.deliverRefusal(live, next); no != nil {
		all = append(all, no)
	}
	if b.Version.has(&waitsLast) {
		add(&maxWaitingCheck)
	}
	return all
}

func (b Broker) deliverRefusal(live *LiveConsumer, next *ConsumerConfig) *refusal {
	from, to := live.Config.DeliverSubject, next.DeliverSubject
	switch {
	case from == to:
		return nil
	case from == "":
		return refuse("deliver_subject", 500, 10012, "can not update pull consumer to push based")
	case to == "":
		return refuse("deliver_subject", 500, 10012, "can not update push consumer to pull based")
	case live.Bound:
		return refuse("deliver_subject", 400, 10013, "consumer name already in use")
	}
	return nil
}
