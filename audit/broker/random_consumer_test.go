package broker_test

import (
	"slices"
	"strings"
	"time"

	"github.com/natsmig/natsmig/audit/broker"
)

// hostStream is a stream for consumers to be on; most of them are legal.
func (r *random) hostStream() document {
	d := document{}.with("name", "S").with("storage", one(r, "memory", "memory", "file"))
	d = d.with("subjects", one(r, []string{"s.>"}, []string{"s.*"}, []string{"s.a", "s.b", "s.c.>"}, []string{"s.a"}))
	d = d.with("retention", one(r, "limits", "limits", "interest", "workqueue"))
	d = d.with("num_replicas", one(r, r.t.replicas...))
	if r.chance(3) {
		limits := map[string]any{}
		if r.chance(2) {
			limits["max_ack_pending"] = one(r, 1, 10, 500, 5000)
		}
		if r.chance(2) {
			limits["inactive_threshold"] = one(r, 5*time.Second, time.Hour)
		}
		d = d.with("consumer_limits", limits)
	}
	if r.chance(5) && !r.t.model.Clustered { // where deleted consumers count for a while
		d = d.with("max_consumers", one(r, 1, 2, 3, -1))
	}
	if r.chance(12) {
		d = d.with("placement", map[string]any{"tags": []string{}})
	}
	return d
}

// origin makes a stream for the host to draw from, and lets the host draw from it
// or from one that is elsewhere or nowhere.
func (r *random) origin(host document) (origin, drawing document) {
	origin = document{}.with("name", "P").with("storage", "memory").with("subjects", []string{one(r, "p.a", "p.>")})
	source := map[string]any{"name": one(r, "P", "P", "P", "nowhere")}
	if r.chance(6) {
		source["external"] = map[string]any{"api": "$JS.hub.API", "deliver": "hub"}
	}
	if r.chance(3) {
		return origin, host.without("subjects").with("mirror", source)
	}
	return origin, host.with("sources", []any{source})
}

// pair makes the next request of the game.
func (g *consumerGame) pair() *consumerPair {
	p := &consumerPair{stream: g.stream, peers: g.peers, action: one[broker.Action](g.random, "", "", "", "", "create", "update")}
	switch {
	case len(g.held) > 0 && !g.chance(3):
		live := parse(one(g.random, g.held...).config)
		p.config = live
		for range one(g.random, 0, 1, 1, 1, 2, 3) {
			p.config = g.mutateConsumer(p.config)
		}
		if g.chance(8) {
			p.config = g.shuffleFilters(p.config)
		}
	default:
		p.config = g.consumer()
	}
	if g.chance(9) {
		p.config = g.spoil(p.config)
	}
	g.meet(p)
	if p.action != broker.CreateOnly || p.live == nil {
		// A broker remembers that a list was there and empty until it restarts,
		// and counts it as a difference for action=create. Its JSON does not tell.
		p.config = slices.DeleteFunc(slices.Clone(p.config), func(m member) bool { return m.value == "[]" || m.value == "{}" })
		g.meet(p)
	}
	return p
}

// meet finds what the request meets.
func (g *consumerGame) meet(p *consumerPair) {
	id := p.id()
	p.live, p.others = nil, nil
	for _, s := range g.held {
		if s.name == id {
			p.live = &sibling{s.name, s.config}
		} else {
			p.others = append(p.others, s)
		}
	}
}

// consumer makes a configuration from nothing.
func (r *random) consumer() document {
	var d document
	id := one(r, "a", "b", "c", "d")
	if r.chance(4) {
		d = d.with("name", id)
	} else {
		d = d.with("durable_name", id)
		if r.chance(6) {
			d = d.with("name", one(r, id, id, "other"))
		}
	}
	d = d.with("ack_policy", one(r, "explicit", "explicit", "explicit", "all", "none"))
	switch {
	case r.chance(3): // a push consumer
		d = d.with("deliver_subject", one(r, "deliver.x", "deliver.y", boundSubject))
		if r.chance(8) {
			d = d.with("ack_policy", "flow_control")
		}
	case r.chance(8):
		d = d.with("priority_policy", one(r, "overflow", "pinned_client", "prioritized")).with("priority_groups", []string{"g"})
	}
	for range r.IntN(4) {
		d = r.mutateConsumer(d)
	}
	return d
}

func (r *random) shuffleFilters(d document) document {
	fs := r.filters()
	r.Shuffle(len(fs), func(i, j int) { fs[i], fs[j] = fs[j], fs[i] })
	return d.without("filter_subject").with("filter_subjects", fs)
}

func (r *random) filters() []string {
	all := []string{"s.a", "s.b", "s.c.d", "s.*", "s.>", "other", "s.c.*", "s.c.>", "p.a", "p.>"}
	if r.chance(20) {
		all = append(all, "", "s..a", "s.a ", ">.a")
	}
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return slices.Clone(all[:r.IntN(4)])
}

const second = time.Second

// mutateConsumer changes one field.
func (r *random) mutateConsumer(d document) document {
	fields := broker.ConsumerFields()
	name := fields[r.IntN(len(fields))].Name
	if r.chance(6) {
		if d.get(name) != "" && name != "durable_name" && name != "name" {
			return d.without(name)
		}
	}
	switch name {
	case "durable_name", "name":
		return r.mutateName(d)
	case "description":
		return d.with(name, one(r, "", "text", "other", strings.Repeat("x", 4*1024), strings.Repeat("x", 4*1024+1)))
	case "deliver_policy":
		d = d.with(name, one(r, "all", "all", "last", "new", "by_start_sequence", "by_start_time", "last_per_subject", "undefined", "ALL", ""))
		if r.chance(2) {
			d = d.with("opt_start_seq", one(r, 1, 7))
		}
		if r.chance(2) {
			d = d.with("opt_start_time", "2026-01-02T03:04:05Z")
		}
		return d
	case "opt_start_seq":
		return d.with(name, one(r, 0, 1, 7))
	case "opt_start_time":
		return d.with(name, one(r, "2026-01-02T03:04:05Z", "2026-01-02T04:04:05+01:00", "2025-01-02T03:04:05.5Z"))
	case "ack_policy":
		return d.with(name, one(r, "none", "all", "explicit", "flow_control", "Explicit"))
	case "ack_wait":
		return d.with(name, one(r, 0, 1, -1, 30*second, 5*second, time.Hour))
	case "max_deliver":
		return d.with(name, one(r, 0, -1, -2, 1, 2, 3, 5, 100))
	case "backoff":
		return d.with(name, one(r, []time.Duration{}, []time.Duration{0, 2 * second}, []time.Duration{second},
			[]time.Duration{second, 2 * second}, []time.Duration{5 * second, second, second}, []time.Duration{second, -1}, []time.Duration{30 * second, time.Hour, time.Hour, time.Hour}))
	case "filter_subject":
		if !r.chance(8) {
			d = d.without("filter_subjects")
		}
		return d.with(name, one(r, "", "s.a", "s.b", "s.*", "s.>", ">", "other", "s.c.d", "s..a", "*.a", "p.a", "p.b"))
	case "filter_subjects":
		if !r.chance(8) {
			d = d.without("filter_subject")
		}
		return d.with(name, r.filters())
	case "replay_policy":
		return d.with(name, one(r, "instant", "original", "fast"))
	case "rate_limit_bps":
		return d.with(name, one(r, 0, 1024, 1<<40))
	case "sample_freq":
		return d.with(name, one(r, "", "0", "100", "50%", "200%", "-1", "x", "0%", "%", "+5", "1.5", "99999999999999999999"))
	case "max_waiting":
		return d.with(name, one(r, 0, 512, 1024, 1, -1))
	case "max_ack_pending":
		return d.with(name, one(r, 0, 1000, 1, 10, 11, 500, 5000, 5001, -1, -2))
	case "flow_control":
		d = d.with(name, one(r, true, false))
		if r.chance(2) {
			d = d.with("idle_heartbeat", 5*second)
		}
		return d
	case "headers_only", "mem_storage":
		return d.with(name, one(r, true, false))
	case "direct", "sourcing":
		if !r.chance(3) || r.t.model.Clustered || r.t.model.Limits.AccountConsumers > 0 {
			return d // in a cluster perhaps nobody answers, and 2.9 counts what a consumer was made as
		}
		other := map[string]string{"direct": "sourcing", "sourcing": "direct"}[name]
		return d.with(name, one(r, true, false)).without(other)
	case "max_batch":
		return d.with(name, one(r, 0, 1, 100, 101, -1))
	case "max_expires":
		return d.with(name, one(r, 0, 1, second, -1, time.Millisecond))
	case "max_bytes":
		return d.with(name, one(r, 0, 1, 4096, -1))
	case "deliver_subject":
		return d.with(name, one(r, "", "deliver.x", "deliver.y", boundSubject, "deliver.*", "s.a", "$JS.API.STREAM.INFO.S",
			"_R_.x", "$JS.ACK.x", "$JS.FC.", "$JS.hub.API.x", "_GR_.", "_GR_.x", "$GR.x", "_INBOX.x", "a b", "$SYS.x", "deliver..x", "$JS.x", "$JS.EVENT", "_R_"))
	case "deliver_group":
		return d.with(name, one(r, "", "g", "h", "a b"))
	case "idle_heartbeat":
		return d.with(name, one(r, 0, 1, -1, 5*second, 100*time.Millisecond, 99*time.Millisecond))
	case "inactive_threshold":
		return d.with(name, one(r, 0, 1, -1, 5*second, time.Hour, time.Hour+1, 72*time.Hour))
	case "num_replicas":
		return d.with(name, one(r, append([]int{0, 0, -1, 1, 3, 6}, r.t.replicas...)...))
	case "metadata":
		return d.with(name, one(r, map[string]string{}, map[string]string{"team": "a"}, map[string]string{"team": "b", "x": ""},
			map[string]string{"_nats.ver": "1", "_nats.mine": "x"}, map[string]string{"k": strings.Repeat("x", 128*1024)}))
	case "pause_until":
		return d.with(name, one(r, "2020-01-01T00:00:00Z", "2030-01-01T00:00:00Z", "2030-01-01T01:00:00+01:00", "0001-01-01T00:00:00Z"))
	case "priority_groups":
		return d.with(name, one(r, []string{}, []string{"g"}, []string{"g", "h"}, []string{""}, []string{"no good"}, []string{"12345678901234567"}))
	case "priority_policy":
		d = d.with(name, one(r, "none", "overflow", "pinned_client", "prioritized", ""))
		if r.chance(2) {
			d = d.with("priority_groups", []string{"g"})
		}
		return d
	case "priority_timeout":
		return d.with(name, one(r, 0, 1, -1, 5*second))
	}
	panic("no values for " + name)
}

func (r *random) mutateName(d document) document {
	switch r.IntN(8) {
	case 0: // another consumer
		return r.rename(d, one(r, "a", "b", "c", "d"))
	case 1:
		return r.rename(d, one(r, "a.b", "a*", "*", ">", "a/b", `a\b`, strings.Repeat("n", 255), strings.Repeat("n", 256), "ä", "a.>"))
	case 2: // durable to ephemeral
		if id := d.text("durable_name"); id != "" {
			return d.without("durable_name").with("name", id)
		}
	case 3: // and back
		if id := d.text("name"); id != "" {
			return d.with("durable_name", id)
		}
	case 4:
		return d.with("name", one(r, "other", "a", "x.y", "x/y", ""))
	}
	return d
}

func (r *random) rename(d document, id string) document {
	for _, field := range []string{"durable_name", "name"} {
		if d.get(field) != "" {
			d = d.with(field, id)
		}
	}
	return d
}
