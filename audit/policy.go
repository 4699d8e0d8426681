package audit

import (
	"path"
	"time"
)

// A Policy changes how findings are judged.
type Policy struct {
	// Severities give rules another severity, by code. SeverityOff drops them.
	Severities map[string]Severity
	Excuses    []Excuse
}

// An Excuse says that a finding is known and why it does not count, until a day.
type Excuse struct {
	Code string
	// Match is a pattern over cell/stream/consumer as path.Match has them, for
	// example "*/webhooks_*/*". Empty: everything.
	Match  string
	Field  string // empty: any
	Reason string
	// Until is the last day on which the excuse holds.
	Until    time.Time
	Position Position
}

// covers says whether the excuse is for the finding.
func (x *Excuse) covers(e *Entry, f *Finding) bool {
	if x.Code != f.Code || x.Field != "" && x.Field != f.Field {
		return false
	}
	if x.Match == "" {
		return true
	}
	ok, err := path.Match(x.Match, e.Cell+"/"+e.Name())
	return err == nil && ok
}

// expired says whether the excuse has run out at now.
func (x *Excuse) expired(now time.Time) bool {
	return !now.IsZero() && now.After(x.Until.AddDate(0, 0, 1).Add(-time.Nanosecond))
}
