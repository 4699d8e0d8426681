package broker

import "slices"

// A Check is one step of the model: it fills something in, or gives a reason to
// refuse.
type Check struct {
	// About is what the step looks at, in a few words. Of an update check it is the
	// wire name of the field that may not change.
	About string
	// Since and Until are the minor versions of the first and the last line that
	// take the step. Zero: no bound.
	Since, Until int
	// Source is the file and line in nats-server, of 2.15.3 unless it says
	// otherwise.
	Source string

	begun, ended *Change // what brought the step within its first line, and took it away within its last
}

func check(about string, since, until int, source string) Check {
	return Check{About: about, Since: since, Until: until, Source: source}
}

// from is the check that came with a patch release of its first line.
func (k Check) from(c *Change) Check { k.begun = c; return k }

// to is the check that went with a patch release of its last line.
func (k Check) to(c *Change) Check { k.ended = c; return k }

// holds says whether a broker of version v takes the step.
func (k *Check) holds(v Version) bool {
	return (k.Since == 0 || v.AtLeast(k.Since)) && (k.Until == 0 || !v.AtLeast(k.Until+1)) &&
		v.has(k.begun) && (k.ended == nil || !v.has(k.ended))
}

// ConsumerChecks lists what every consumer is checked for, in the broker's
// order, after the defaults.
func ConsumerChecks() []Check {
	return checksOf(consumerChecks, func(k *consumerCheck) Check { return k.Check })
}

// ConsumerUpdateChecks lists what an update of a consumer may not change, in the
// order of the newest line.
func ConsumerUpdateChecks() []Check {
	all := append(slices.Clip(updateChecks), deliverCheck, maxWaitingCheck)
	return checksOf(all, func(k *updateCheck) Check { return k.Check })
}

// StreamChecks lists what every stream is checked for and filled in with, in the
// broker's order.
func StreamChecks() []Check {
	return checksOf(streamSteps, func(k *streamStep) Check { return k.Check })
}

// StreamUpdateChecks lists what an update of a stream may not change, in the
// broker's order.
func StreamUpdateChecks() []Check {
	return checksOf(streamUpdateChecks, func(k *streamUpdateCheck) Check { return k.Check })
}

func checksOf[R any](rows []R, check func(*R) Check) []Check {
	all := make([]Check, len(rows))
	for i := range rows {
		all[i] = check(&rows[i])
	}
	return all
}
