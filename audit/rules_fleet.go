package audit

import (
	"fmt"
	"strings"

	"github.com/natsmig/natsmig/audit/broker"
)

var undeclaredDurable = &Rule{
	Code: "NM401", Severity: Warning,
	Title: "a durable that nobody declared",
	Doc: `The stream is named by a declaration, and a durable on it by none. A leaked durable on an
interest stream keeps messages for ever; on a work queue it takes work. Declare it, or delete it
once it is known to be nobody's.`,
	Consumer: func(p *ConsumerPass) {
		if p.Declaration != nil || p.LiveOnly || p.Live == nil || p.Live.Config.Durable == "" {
			return
		}
		s := p.Live.State
		msg := fmt.Sprintf("live and not declared: %d pending, %d outstanding", s.NumPending, s.NumAckPending)
		if p.StreamConfig.Retention == broker.InterestRetention && p.Live.Config.InactiveThreshold == 0 {
			msg += "; on an interest stream without inactive_threshold it holds messages for ever"
		}
		p.Report(Finding{Message: msg, Fix: "declare it (natsmig adopt writes the text), or delete it if it is nobody's"})
	},
}

var missingDurable = &Rule{
	Code: "NM402", Severity: Info,
	Title: "declared, and not on the broker",
	Doc: `The durable would be created, and a new durable has no position: its deliver_policy decides
where it starts. With deliver_policy all it replays whatever the stream still holds. That is as
it should be for a new consumer, and a surprise for one that was lost. A controller that says
Ready proves nothing.`,
	Consumer: func(p *ConsumerPass) {
		d, c := p.Declaration, p.Stored()
		if d == nil || p.Live != nil || p.Result.Outcome != broker.Create || c == nil {
			return
		}
		f := Finding{Message: "declared and not on the broker: it would be created" + p.startsAt(c), Fix: "if it was there before, start it with deliver_policy by_start_sequence behind the position it had"}
		if d.Ready {
			f.Severity = Warning
			f.Message = "the resource says Ready, but the broker has no such consumer: recreated, it starts anew" + p.startsAt(c)
		}
		p.Report(f)
	},
}

// startsAt says what a new durable gets first.
func (p *ConsumerPass) startsAt(c *broker.ConsumerConfig) string {
	switch c.DeliverPolicy {
	case broker.DeliverAll:
		if p.Stream == nil || !p.Stream.Stated {
			return "; deliver_policy all replays the stream from its first sequence"
		}
		if n := p.Stream.State.Messages; n > 0 {
			return fmt.Sprintf("; deliver_policy all replays the stream from its first sequence (%d, %d messages)", p.Stream.State.FirstSeq, n)
		}
		return ""
	case broker.DeliverNew:
		return "; deliver_policy new skips everything that is stored"
	default:
		return "; deliver_policy " + string(c.DeliverPolicy)
	}
}

var pinnedFloor = &Rule{
	Code: "NM403", Severity: Warning,
	Title: "a message pins the ack floor",
	Doc: `A message that fails again and again holds the ack floor while later messages are delivered
and acknowledged. It keeps num_ack_pending at one, so a monitor on volume never fires; on an
interest stream or a work queue nothing above the floor is freed in order, and a restore from a
backup repeats all of it. Find the message at ack floor + 1 and settle it.`,
	Consumer: func(p *ConsumerPass) {
		if p.Live == nil || p.Live.Bad != nil {
			return
		}
		s := p.Live.State
		if gap := s.gap(); s.NumRedelivered > 0 && s.NumAckPending > 0 && gap > uint64(s.NumAckPending) {
			p.Report(Finding{
				Message: fmt.Sprintf("the ack floor stands at %d while %d is delivered, with %d outstanding and %d redelivered: a failing message pins it", s.AckFloor.Stream, s.Delivered.Stream, s.NumAckPending, s.NumRedelivered) + p.pinnedUntil(),
				Fix:     fmt.Sprintf("look at sequence %d and after (nats stream get %s %d), and settle or capture it", s.AckFloor.Stream+1, p.Stream.Name, s.AckFloor.Stream+1),
				Have:    s.AckFloor.Stream,
			})
		}
	},
}

func (p *ConsumerPass) pinnedUntil() string {
	switch e := p.envelope(p.Live.Config, p.Handler()); {
	case e == nil || e.Stalled:
		return ""
	case e.Unbounded:
		return "; max_deliver is unlimited, so it can last for ever"
	default:
		return fmt.Sprintf("; it can last %s", Duration(e.Exhausted))
	}
}

// gap is how many messages at most lie between the ack floor and the last one
// delivered.
func (s *ConsumerState) gap() uint64 {
	if s.Delivered.Stream <= s.AckFloor.Stream {
		return 0
	}
	gap := s.Delivered.Stream - s.AckFloor.Stream
	if s.Delivered.Consumer > s.AckFloor.Consumer {
		gap = min(gap, s.Delivered.Consumer-s.AckFloor.Consumer)
	}
	return gap
}

var undeclaredStream = &Rule{
	Code: "NM404", Severity: Warning,
	Title: "a stream that nobody declared",
	Doc: `Streams of this cell are declared, and this one is not. If its name was changed in the
declaration, the declared one is a new, empty stream, and this one keeps the messages until
somebody deletes it with them.`,
	Stream: func(p *StreamPass) {
		if p.Declaration != nil || p.Live == nil || internalStream(p.Live.Name) || !p.OthersDeclared {
			return
		}
		p.Report(Finding{
			Message: "live and not declared: deleting it loses " + p.Live.goesWith(),
			Fix:     "declare it, or delete it if it is nobody's",
		})
	},
}

// internalStream says whether a stream is part of something else: a key-value
// bucket, an object store, an MQTT session store.
func internalStream(name string) bool {
	return strings.HasPrefix(name, "KV_") || strings.HasPrefix(name, "OBJ_") || strings.HasPrefix(name, "$MQTT_")
}

var rollsBack = &Rule{
	Code: "NM405", Severity: Info,
	Title: "a restore from a backup would repeat messages",
	Doc: `A backup that is taken while messages are outstanding puts the consumer back to its ack
floor: everything delivered above the floor comes again, also what was acknowledged there, and
delivery counts start at one.`,
	Consumer: func(p *ConsumerPass) {
		if p.Live == nil || p.Live.Bad != nil {
			return
		}
		s := p.Live.State
		if gap := s.gap(); gap > uint64(max(s.NumAckPending, 0)) && s.NumAckPending > 0 {
			p.Report(Finding{Message: fmt.Sprintf("a restore from a backup repeats up to %d messages (%d..%d), %d of them already acknowledged; delivery counts restart at 1",
				gap, s.AckFloor.Stream+1, s.Delivered.Stream, gap-uint64(s.NumAckPending))})
		}
	},
}
