package broker_test

import (
	"strings"
	"time"

	"github.com/natsmig/natsmig/audit/broker"
)

// streamConfig makes a configuration from nothing.
func (r *random) streamConfig(name string) document {
	d := document{}.with("name", name)
	if !r.chance(6) {
		d = d.with("storage", "memory")
	}
	switch {
	case r.chance(6):
		d = d.with("mirror", r.source(name))
	case r.chance(6):
		d = d.with("sources", []any{r.source(name)})
	default:
		d = d.with("subjects", r.subjects(name))
	}
	for range r.IntN(4) {
		d = r.mutateStream(d)
	}
	if r.t.maxBytes && !r.chance(6) {
		d = d.with("max_bytes", one(r, 100, 500, 501, 900, 901))
	}
	return d
}

func (r *random) subjects(name string) []string {
	n := strings.ToLower(name)
	if !r.t.model.Version.AtLeast(11) {
		// Older brokers let a stream capture "*.>", the API's requests too.
		return one(r, []string{n}, []string{n + ".>"}, []string{n + ".a", n + ".b"}, []string{n + ".*"}, []string{"p.a"}, []string{n, n}, []string{"$JS.API.>"}, []string{"a..b"}, []string{"$SYS.>"}, []string{"$NRG.x"})
	}
	if r.chance(25) {
		return one(r, []string{">"}, []string{"a..b"}, []string{n, n}, []string{n + ".>", n + ".a"}, []string{"$JS.>"}, []string{"$JS.EVENT.ADVISORY.>"},
			[]string{"$SYS.ACCOUNT.>"}, []string{"$SYS.>"}, []string{"*"}, []string{"$NRG.x"}, []string{"$JSC.x"}, []string{"$JS.API.>"}, []string{"*.>"}, []string{""}, []string{"a b"}, []string{"*.a"})
	}
	return one(r, []string{n}, []string{n + ".>"}, []string{n + ".a", n + ".b"}, []string{n + ".b", n + ".a"}, []string{n + ".*"}, []string{"p.a"}, []string{})
}

func (r *random) source(name string) map[string]any {
	s := map[string]any{"name": one(r, "P", "Q", "S", "nowhere", "nowhere")}
	if r.chance(30) {
		s["name"] = one(r, "", "a.b", name)
	}
	if r.chance(4) {
		s["filter_subject"] = one(r, "p.a", "p.>", "q", "x", "a..b", "s.a")
		if r.t.model.Clustered && s["filter_subject"] == "a..b" {
			s["filter_subject"] = "x" // the stream's leader refuses it, and the reply may be of its clean-up
		}
	}
	if r.chance(5) {
		s["subject_transforms"] = r.transforms()
	}
	if r.chance(6) {
		s["opt_start_seq"] = 7
	}
	if r.chance(8) {
		s["opt_start_time"] = "2026-01-02T03:04:05+01:00"
	}
	if r.chance(5) {
		s["external"] = map[string]any{"api": one(r, "$JS.hub.API", "", "$JS.API", "x.*", "deliver.api", "a b"), "deliver": one(r, "", "deliver", "d.*", "p", "*")}
	}
	if r.chance(6) {
		s["consumer"] = map[string]any{"name": one(r, "dur", "", "a.b"), "deliver_subject": one(r, "deliver.src", "", "d.*")}
		if r.chance(6) {
			s["consumer"] = nil
		}
	}
	return s
}

func (r *random) transform() map[string]any {
	return map[string]any{
		"src": one(r, "", ">", "s.*", "s.*.*", "p.>", "s.a", "a..b", "*"),
		"dest": one(r, "", "x.>", ">", "x.$1", "x.{{wildcard(1)}}", "x.{{wildcard(2)}}", "x.{{partition(3,1)}}", "x.{{partition(3)}}", "x", "x.*", "x..y", "x y",
			"{{nosuch(1)}}", "x.{{split(1,-)}}", "x.{{left(1,2)}}", "x.{{left(1)}}", "x.{{random(5)}}", "x.$9", "x.{{wildcard(x)}}", "x.{{wildcard()}}", "{{ SplitFromLeft(1, 2) }}.y", "x.>.y", "{{wildcard(1,2)}}",
			"x.{{slicefromright(1,99999999999)}}", "$x.>", "x.{{partition(99999999999)}}", "x.{{split(1,a b)}}", "{{right(1,2)}}", "x.{{split(1)}}", "x.{{random(a)}}"),
	}
}

func (r *random) transforms() []any {
	all := []any{r.transform()}
	if r.chance(2) {
		all = append(all, r.transform())
	}
	return all
}

// mutateStream changes one field.
func (r *random) mutateStream(d document) document {
	fields := broker.StreamFields()
	name := fields[r.IntN(len(fields))].Name
	if name != "name" && d.get(name) != "" && r.chance(6) {
		return d.without(name)
	}
	self := d.text("name")
	limit := func() document { return d.with(name, one(r, 0, -1, -2, 1, 2, 1000)) }
	switch name {
	case "name":
		if !r.chance(8) {
			return d
		}
		return d.with(name, one(r, "a/b", "a*", ">", strings.Repeat("n", 255), strings.Repeat("n", 256), `a\b`))
	case "description":
		return d.with(name, one(r, "", "text", strings.Repeat("x", 4*1024), strings.Repeat("x", 4*1024+1)))
	case "subjects":
		return d.with(name, r.subjects(self))
	case "retention":
		return d.with(name, one(r, "limits", "interest", "workqueue", "Limits"))
	case "max_consumers", "max_msgs", "max_bytes", "max_msgs_per_subject":
		return limit()
	case "max_msg_size":
		return d.with(name, one(r, 0, -1, -2, 1, 1000, 1<<31, 1<<31-1))
	case "max_age":
		return d.with(name, one(r, 0, -1, 1, 100*time.Millisecond, time.Hour, time.Minute))
	case "discard":
		return d.with(name, one(r, "old", "new", "NEW", "none"))
	case "storage":
		if !r.chance(3) {
			return d
		}
		return d.with(name, one(r, "file", "memory", "tape"))
	case "num_replicas":
		return d.with(name, one(r, append([]int{0, 1, -1, 2, 3, 6}, r.t.replicas...)...))
	case "duplicate_window":
		return d.with(name, one(r, 0, -1, 1, 100*time.Millisecond, time.Minute, time.Hour))
	case "placement":
		if !r.t.model.Version.AtLeast(11) { // where {} and no tags are two things, though not in JSON
			return d.with(name, one(r, map[string]any{}, map[string]any{"cluster": ""}, map[string]any{"preferred": "x"}, map[string]any{"surprise": 1}))
		}
		return d.with(name, one(r, map[string]any{}, map[string]any{"cluster": ""}, map[string]any{"tags": []string{}}, map[string]any{"preferred": "x"}, map[string]any{"surprise": 1}))
	case "mirror":
		if !r.chance(2) {
			return d
		}
		return d.without("subjects").with(name, r.source(self))
	case "sources":
		all := []any{r.source(self)}
		if r.chance(3) {
			all = append(all, r.source(self))
		}
		if r.chance(20) && r.t.model.Version.AtLeast(11) { // older brokers crash
			all = append(all, nil)
		}
		return d.with(name, all)
	case "compression":
		return d.with(name, one(r, "none", "s2", "zip"))
	case "first_seq":
		return d.with(name, one(r, 0, 1, 100))
	case "subject_transform":
		return d.with(name, r.transform())
	case "republish":
		tr := r.transform()
		if r.chance(3) {
			tr["headers_only"] = true
		}
		return d.with(name, tr)
	case "consumer_limits":
		return d.with(name, one(r, map[string]any{}, map[string]any{"max_ack_pending": 5}, map[string]any{"max_ack_pending": -1}, map[string]any{"inactive_threshold": 5 * second}, map[string]any{"inactive_threshold": -1, "max_ack_pending": 100}))
	case "subject_delete_marker_ttl":
		return d.with(name, one(r, 0, -1, 1, second, time.Hour))
	case "persist_mode":
		return d.with(name, one(r, "default", "async", "", "sync"))
	case "metadata":
		return d.with(name, one(r, map[string]string{}, map[string]string{"team": "a"}, map[string]string{"_nats.mine": "x", "_nats.ver": "1"}, map[string]string{"k": strings.Repeat("x", 128*1024)}))
	case "sealed":
		return d.with(name, r.chance(4))
	case "allow_direct", "mirror_direct", "discard_new_per_subject", "deny_delete", "deny_purge", "allow_rollup_hdrs",
		"allow_msg_ttl", "allow_msg_counter", "allow_atomic", "allow_msg_schedules", "allow_batched", "no_ack":
		return d.with(name, r.chance(2))
	}
	panic("no values for " + name)
}
