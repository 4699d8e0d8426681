package audit

import "strings"

var assumption = &Rule{
	Code: "NM901", Severity: Info,
	Title: "something is taken for granted",
	Doc: `The snapshot does not tell something that decides, so the model takes the server's default for
it. Take a whole snapshot (natsmig snapshot), or name the version with --broker-version.`,
}

var expiredExcuse = &Rule{
	Code: "NM902", Severity: Warning,
	Title: "an excuse has run out",
	Doc: `The policy excuses a finding until a day that has passed, so the finding counts again. Mend
what it is about, or give the excuse a new date and a reason that still holds.`,
}

var idleExcuse = &Rule{
	Code: "NM903", Severity: Info,
	Title: "an excuse covers nothing",
	Doc:   `No finding matches the excuse: what it was for is mended, or its pattern is wrong. Delete it.`,
}

var toolDefault = &Rule{
	Code: "NM904", Severity: Info,
	Title: "the tool that applies the declaration fills in a default",
	Doc: `A file in Git has not passed the API server: NACK's resource definition adds ackPolicy none,
ackWait 1ns, deliverPolicy all and replayPolicy instant to a consumer, and storage memory,
replicas 1, retention limits and discard old to a stream; Terraform's provider sends ack_wait
30s and max_ack_pending 20000. What is filled in is sent, and counts as declared.`,
	Consumer: func(p *ConsumerPass) {
		if p.Declaration != nil {
			tellDefaults(p.Declaration, p.Report)
		}
	},
	Stream: func(p *StreamPass) {
		if p.Declaration != nil {
			tellDefaults(p.Declaration, p.Report)
		}
	},
}

// tellDefaults puts what is filled in into one finding, but for what has more to
// say than its value.
func tellDefaults(d *Declaration, report func(Finding)) {
	var all []string
	for _, n := range d.Notes {
		switch {
		case n.Unsent:
		case n.Fix != "":
			report(Finding{Field: n.Field, Want: n.Value, Message: n.Field + ": " + n.Message, Fix: n.Fix})
		default:
			all = append(all, n.Message)
		}
	}
	if len(all) > 0 {
		report(Finding{Message: "filled in: " + strings.Join(all, ", "), Fix: "write them, so that the file says what is applied"})
	}
}
