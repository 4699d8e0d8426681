package audit

import "github.com/natsmig/natsmig/timingcontract"

// breachRule is a rule about one kind of breach. Its severity is what counts
// where a handler section promises the timing. Without one there is no promise,
// and the finding is a warning; a zero rung is no matter of promises.
func breachRule(kind timingcontract.Kind, code string, severity Severity, title, doc string) *Rule {
	return &Rule{Code: code, Severity: severity, Title: title, Doc: doc, Consumer: func(p *ConsumerPass) {
		for i := range p.Breaches {
			if b := &p.Breaches[i]; b.Kind == kind {
				p.Report(Finding{
					Severity: p.breachSeverity(kind, severity), Field: b.Field,
					Message: b.Message, Fix: b.Fix, Have: b.Left.String(), Want: b.Right.String(),
				})
			}
		}
	}}
}

func (p *ConsumerPass) breachSeverity(kind timingcontract.Kind, s Severity) Severity {
	switch {
	case s != Error:
		return s
	case kind == timingcontract.ZeroRung:
		return p.ifNew(Error)
	case p.Handler() == nil:
		return Warning
	}
	return Error
}

var outlivesMaxAge = mostlyWarning(breachRule(timingcontract.OutlivesMaxAge, "NM101", Error, "retries outlive the stream's max_age",
	`The stream deletes a message when it is max_age old, also while it is being
retried. If it can stay longer than that, budgets included, it vanishes instead
of being given up: the advisory is MSG_TERMINATED and not MAX_DELIVERIES, so a
dead-letter writer that listens for MAX_DELIVERIES misses it, and the payload is
gone. An error where a handler section promises the timing, a warning otherwise.
Shorten the ladder, lower max_deliver, or keep messages longer.`))

// mostlyWarning has a rule listed as what it mostly is: most consumers of a stream
// with a max_age have no handler section.
func mostlyWarning(r *Rule) *Rule {
	r.Severity = Warning
	return r
}

var zeroRung = breachRule(timingcontract.ZeroRung, "NM103", Error, "a rung of zero turns retries off",
	`A zero in backoff is accepted, and does what nobody wants. From 2.14 on a first rung
of zero switches the ack timer off: the message is delivered, and when nobody
acknowledges it nothing happens any more; it holds the ack floor for good. A later
zero waits ack_wait, and switches the timer off after a delayed nak or a heartbeat.
From 2.10 to 2.12 a rung of zero is no wait at all: the message comes again at once.
Give every rung a duration.`)

var mixedOwnership = breachRule(timingcontract.MixedOwnership, "NM105", Error, "the ladder is added to the handler's delays",
	`The handler naks with delays, and the consumer has a ladder whose rungs are not all
alike: redelivery n + 1 comes delay + backoff[n-1] - backoff[0] after delivery n, which
neither of the two says. One has to own the schedule: drop backoff, or do nothing on
failure. A raw -NAK with a delay that makes up for the ladder, a negative one too, waits
what was meant.`)

var burningNak = breachRule(timingcontract.BurningNak, "NM106", Error, "a plain nak spends every delivery at once",
	`A nak without a delay ignores the ladder and ack_wait. A message that fails for a
second is delivered max_deliver times within milliseconds and given up. That needs a
pull, as giving up always does, so with all processes away the message stays pending and
there is no advisory. Do nothing on failure, or nak with a delay; end
the last attempt with a capture and a term.`)

var descendingRung = breachRule(timingcontract.DescendingRung, "NM107", Warning, "the ladder goes down",
	`A later rung is shorter than an earlier one. That is accepted, and seldom meant: the
broker hurries as the message goes on failing, and a nak with a delay that is shorter than
what the ladder has lost comes again at once.`)

var budgetOverRung = breachRule(timingcontract.BudgetOverRung, "NM108", Error, "an attempt may take longer than the broker waits",
	`The budget is over ack_wait, or over the rung of some delivery, and the handler sends
no heartbeat: the message is delivered again while it is being handled, to another worker,
and a delivery is spent. Send in-progress three times a rung, or wait longer.`)

var slowHeartbeat = breachRule(timingcontract.SlowHeartbeat, "NM109", Error, "the heartbeat comes after the rung",
	`In-progress resets the clock of the current rung, so the first one has to come before
backoff[0] is over, not before the ack_wait that was declared beside it. A third of the
shortest rung leaves room for a lost one.`)

var shortHeartbeat = breachRule(timingcontract.ShortHeartbeat, "NM110", Error, "the heartbeat ends before the attempt",
	`The heartbeat is kept up for a while only (its cap), and an attempt may take longer
than that and the rung after the last one: the message is delivered again while it is being
handled. Keep it up for the whole budget, or let the client schedule with a long ack_wait.`)

var deepPrefetch = breachRule(timingcontract.DeepPrefetch, "NM111", Error, "prefetched messages time out in the process",
	`The clock of a message starts when the server sends it, not when the handler does. The
last one of a full buffer waits for all those before it: prefetch x budget / workers must
stay under the wait of the first delivery, or messages are handled twice and deliveries are
spent on messages that no handler saw.`)

var noCapture = breachRule(timingcontract.NoCapture, "NM112", Error, "a reserve that captures nothing",
	`Deliveries at the end are kept for a capture, and there is no capture, no last delivery,
or no delivery left for the handler. Name the capture's subject, bound max_deliver, or drop
the reserve.`)

var noReserve = breachRule(timingcontract.NoReserve, "NM113", Error, "a capture without a delivery of its own",
	`Messages are captured when they are given up, and no delivery is kept for it. When the
last attempt times out or its process dies, the broker gives the message up and the handler
never hears of it. Keep a reserve, and raise max_deliver by as many.`)

var thinReserve = breachRule(timingcontract.ThinReserve, "NM114", Info, "the capture has one delivery",
	`If the publish of the capture fails, or the process dies with it, the message is given
up with only an advisory. Reserve two, or hold the message (in progress) until the
dead-letter stream has answered.`)

var pinBound = breachRule(timingcontract.PinnedFloor, "NM115", Error, "a message can hold the ack floor longer than was said",
	`One failing message holds the consumer's ack floor until it is acknowledged, terminated
or given up, and the handler section states a bound (pin) that this exceeds, on a stream that
several consumers share. It keeps num_ack_pending at one, so no volume alarm tells.`)

var fullAckPending = breachRule(timingcontract.FullAckPending, "NM116", Error, "waiting messages can fill max_ack_pending",
	`A message that waits for its retry stays pending and takes one of max_ack_pending
places. With the stated rate of failures (failing_every) and the wait between deliveries
more of them wait than there are places, and the consumer stops. Raise max_ack_pending, or
move long waits to another stream.`)

var strandedBound = breachRule(timingcontract.StrandedMessages, "NM117", Warning, "given-up messages stay in the work queue",
	`When a message has been delivered max_deliver times, the consumer forgets it and the
work queue keeps it: nothing acknowledged it. It counts against the stream's limits, no
consumer gets it again, and a consumer that is created anew does. Capture or term on the
last attempt, or read the advisories and delete by sequence.`)

var deletedWhenIdle = breachRule(timingcontract.DeletedWhenIdle, "NM118", Error, "the durable is deleted before its processes are back",
	`Without a pull for inactive_threshold the broker deletes the durable, its position with
it; on an interest stream the messages go too. The handler section states a longer outage,
or, on a broker before 2.11, a retry waits longer than that: from 2.11 on the wait of a
pending message counts.`)

var shortDedup = breachRule(timingcontract.ShortDedupWindow, "NM119", Error, "a retry outlives the deduplication window",
	`The handler publishes with a message ID, so that a second attempt is dropped by the
stream it publishes to. That stream forgets the ID after duplicate_window, counted from the
first message with it, and the last attempt comes later: the message is stored twice.`)

var longDrain = breachRule(timingcontract.LongDrain, "NM120", Error, "a drain takes longer than the process has",
	`What a process holds when it is told to stop takes longer, at its budget, than the
process is given (grace): it is killed at work, the messages wait for their rung, and a
delivery of each is spent.`)

var slowRecovery = breachRule(timingcontract.SlowRecovery, "NM121", Error, "a message of a dead process waits too long",
	`The broker does not link a delivery to a connection: when a process dies, its messages
come again after the rung of their delivery, and the handler section wants them sooner
(recovery). A short ack_wait with a heartbeat gives both: long work, and quick recovery.`)
