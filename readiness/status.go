package readiness

import (
	"encoding/json"
	"net/http"
	"time"
)

// Status is what a gate says right now.
type Status struct {
	Name         string     `json:"name"`
	Ready        bool       `json:"ready"`
	Started      bool       `json:"started"` // bound once
	State        State      `json:"state"`
	Class        Class      `json:"class,omitempty"`
	Reason       string     `json:"reason,omitempty"`
	Paused       bool       `json:"paused,omitempty"` // ready, though nothing comes until pause_until
	Since        time.Time  `json:"since"`
	FailingSince *time.Time `json:"failing_since,omitempty"`
	Attempts     int        `json:"attempts,omitempty"` // that failed in this failure
	Failures     int        `json:"failures"`           // since the start
	Recreated    int        `json:"recreated"`
	Created      *time.Time `json:"created,omitempty"` // of the consumer
}

// Status tells where the gate is.
func (g *Gate) Status() Status {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := Status{
		Name: g.c.Name, Started: g.started, State: g.state, Class: g.class, Since: g.since,
		Attempts: g.attempts, Failures: g.failures, Recreated: g.recreated, Paused: g.paused,
	}
	s.Ready = g.state == BoundNow || g.state == Shaken && time.Since(g.since) < g.c.Grace
	if g.err != nil {
		s.Reason = g.err.Error()
	}
	failing := g.failing
	if g.state == Shaken && !s.Ready {
		failing = g.since
	}
	s.FailingSince, s.Created = at(failing), at(g.created)
	return s
}

// at is nil for a time that is not known.
func at(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// Health is something that has a status, such as a Gate.
type Health interface{ Status() Status }

// A Group is several consumers of one process.
type Group struct {
	// Members must all be ready for the process to be.
	Members []Health
	// Optional ones are shown, and left out of the verdict on purpose.
	Optional []Health
	// Wedged, if set, says why the process should be killed. Nothing else fails
	// /livez: restarting does not mend a broker.
	Wedged func() error
}

// Verdict is the answer to a probe.
type Verdict struct {
	OK       bool     `json:"ok"`
	Reason   string   `json:"reason,omitempty"`
	Members  []Status `json:"members,omitempty"`
	Optional []Status `json:"optional,omitempty"`
}

// Ready says whether all members are ready. A group without members is not.
func (g *Group) Ready() Verdict {
	return g.verdict(func(s Status) bool { return s.Ready }, "not ready")
}

// Started says whether all members were bound once.
func (g *Group) Started() Verdict {
	return g.verdict(func(s Status) bool { return s.Started }, "not started")
}

func (g *Group) verdict(is func(Status) bool, otherwise string) Verdict {
	v := Verdict{OK: len(g.Members) > 0}
	if !v.OK {
		v.Reason = "no consumers"
	}
	for _, m := range g.Members {
		s := m.Status()
		if !is(s) {
			v.OK = false
			v.Reason = s.Name + " is " + otherwise
		}
		v.Members = append(v.Members, s)
	}
	for _, m := range g.Optional {
		v.Optional = append(v.Optional, m.Status())
	}
	return v
}

// Live says whether the process should go on.
func (g *Group) Live() Verdict {
	if g.Wedged != nil {
		if err := g.Wedged(); err != nil {
			return Verdict{Reason: err.Error()}
		}
	}
	return Verdict{OK: true}
}

// Handler serves /readyz, /livez and /startupz: status 200 or 503, with a Verdict
// as JSON.
func (g *Group) Handler() http.Handler {
	mux := http.NewServeMux()
	for path, ask := range map[string]func() Verdict{"/readyz": g.Ready, "/livez": g.Live, "/startupz": g.Started} {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
			v := ask()
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Cache-Control", "no-store")
			if !v.OK {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
			_ = json.NewEncoder(w).Encode(v) // the prober has gone
		})
	}
	return mux
}
