package declare

import (
	"fmt"
	"strings"
	"time"

	"github.com/natsmig/natsmig/audit"
	"github.com/natsmig/natsmig/internal/strictyaml"
)

// terraform reads what `terraform show -json` prints of a state or of a plan:
// the resources jetstream_consumer and jetstream_stream, in every module.
func (r *reader) terraform(n *strictyaml.Node) {
	values := n.Get("planned_values")
	if values == nil {
		values = n.Get("values")
	}
	if values == nil {
		r.errs.Add(n, "", "a Terraform document without values: give natsmig what `terraform show -json` prints")
		return
	}
	r.module(values.Get("root_module"), "values.root_module")
}

func (r *reader) module(n *strictyaml.Node, path string) {
	if list := listOf(n, "resources"); list != nil {
		for i, res := range list.Items {
			at := fmt.Sprintf("%s.resources[%d].values", path, i)
			switch res.Text("type") {
			case "jetstream_consumer":
				r.tfConsumer(res, at)
			case "jetstream_stream":
				r.tfStream(res, at)
			default:
				r.set.Skipped = append(r.set.Skipped, res.Text("type"))
			}
		}
	}
	if list := listOf(n, "child_modules"); list != nil {
		for i, child := range list.Items {
			r.module(child, fmt.Sprintf("%s.child_modules[%d]", path, i))
		}
	}
}

// A tfKey is one argument of the provider's resource and the field it becomes.
type tfKey struct {
	key, field string
	seconds    bool // the provider counts whole seconds
}

// tfConsumerKeys are the arguments of jetstream_consumer (terraform-provider-
// jetstream, resource_jetstream_consumer.go).
var tfConsumerKeys = []tfKey{
	{"durable_name", "durable_name", false},
	{"description", "description", false},
	{"delivery_subject", "deliver_subject", false},
	{"delivery_group", "deliver_group", false},
	{"ack_policy", "ack_policy", false},
	{"ack_wait", "ack_wait", true},
	{"max_delivery", "max_deliver", false},
	{"backoff", "backoff", true},
	{"filter_subject", "filter_subject", false},
	{"filter_subjects", "filter_subjects", false},
	{"replay_policy", "replay_policy", false},
	{"max_waiting", "max_waiting", false},
	{"ratelimit", "rate_limit_bps", false},
	{"max_ack_pending", "max_ack_pending", false},
	{"heartbeat", "idle_heartbeat", true},
	{"flow_control", "flow_control", false},
	{"headers_only", "headers_only", false},
	{"max_batch", "max_batch", false},
	{"max_bytes", "max_bytes", false},
	{"max_expires", "max_expires", true},
	{"inactive_threshold", "inactive_threshold", true},
	{"replicas", "num_replicas", false},
	{"memory", "mem_storage", false},
	{"metadata", "metadata", false},
	{"priority_policy", "priority_policy", false},
	{"priority_groups", "priority_groups", false},
	{"priority_timeout", "priority_timeout", true},
	{"start_time", "opt_start_time", false},
	{"stream_sequence", "opt_start_seq", false},
}

// tfStreamKeys are the arguments of jetstream_stream (resource_jetstream_stream.go).
var tfStreamKeys = []tfKey{
	{"name", "name", false},
	{"description", "description", false},
	{"subjects", "subjects", false},
	{"retention", "retention", false},
	{"storage", "storage", false},
	{"discard", "discard", false},
	{"discard_new_per_subject", "discard_new_per_subject", false},
	{"max_consumers", "max_consumers", false},
	{"max_msgs", "max_msgs", false},
	{"max_msgs_per_subject", "max_msgs_per_subject", false},
	{"max_bytes", "max_bytes", false},
	{"max_age", "max_age", true},
	{"max_msg_size", "max_msg_size", false},
	{"duplicate_window", "duplicate_window", true},
	{"replicas", "num_replicas", false},
	{"allow_direct", "allow_direct", false},
	{"deny_delete", "deny_delete", false},
	{"deny_purge", "deny_purge", false},
	{"allow_rollup_hdrs", "allow_rollup_hdrs", false},
	{"compression", "compression", false},
	{"allow_msg_ttl", "allow_msg_ttl", false},
	{"subject_delete_marker_ttl", "subject_delete_marker_ttl", true},
	{"first_seq", "first_seq", false},
	{"allow_batched", "allow_batched", false},
	{"allow_atomic", "allow_atomic", false},
	{"allow_msg_counter", "allow_msg_counter", false},
	{"allow_msg_schedules", "allow_msg_schedules", false},
	{"persist_mode", "persist_mode", false},
	{"metadata", "metadata", false},
	{"mirror_direct", "mirror_direct", false},
}

func (r *reader) tfConsumer(res *strictyaml.Node, path string) {
	values := res.Get("values")
	if values == nil {
		r.errs.Add(res, path, "is missing")
		return
	}
	b := r.draft(false)
	r.tfFields(b, values, tfConsumerKeys, path)
	r.tfSampling(b, values)
	notes := r.tfConsumerDefaults(b, values)
	r.tfDeliver(b, values)
	stream := strings.TrimPrefix(values.Text("stream_id"), "JETSTREAM_STREAM_")
	if stream == "" {
		r.errs.Add(values, path, "stream_id is missing or not known yet: apply the stream first")
		return
	}
	d, err := b.declaration(stream)
	if err != nil {
		r.errs.Add(values, path, "%v", err)
		return
	}
	r.terraformed(d, res, notes)
}

func (r *reader) terraformed(d *audit.Declaration, res *strictyaml.Node, notes []audit.Note) {
	d.Origin, d.Writer, d.Notes, d.Position = audit.FromTerraform, audit.Replace, notes, r.position(res)
	r.set.Declarations = append(r.set.Declarations, d)
}

// tfFields takes the arguments that have a value. The provider leaves out what
// is zero or empty, and so does the wire.
func (r *reader) tfFields(b *draft, values *strictyaml.Node, keys []tfKey, path string) {
	for _, k := range keys {
		v := values.Get(k.key)
		if v == nil || emptyValue(v) {
			continue
		}
		if k.seconds {
			v = inSeconds(v)
		}
		b.set(k.field, v, path+"."+k.key)
	}
}

func emptyValue(n *strictyaml.Node) bool {
	switch n.Kind {
	case strictyaml.Null:
		return true
	case strictyaml.Int, strictyaml.Float:
		return n.Value == "0"
	case strictyaml.String:
		return n.Value == ""
	case strictyaml.Bool:
		return n.Value == "false"
	default:
		return len(n.Items) == 0 && len(n.Pairs) == 0
	}
}

// inSeconds gives numbers their unit.
func inSeconds(n *strictyaml.Node) *strictyaml.Node {
	t := *n
	t.Items = nil
	for _, item := range n.Items {
		t.Items = append(t.Items, inSeconds(item))
	}
	if n.Kind == strictyaml.Int {
		t.Kind, t.Value = strictyaml.String, n.Value+"s"
	}
	return &t
}

// tfSampling writes the provider's percentage as the API has it. The provider
// sends "0%" where none is set, which means the same as nothing.
func (r *reader) tfSampling(b *draft, values *strictyaml.Node) {
	if v := values.Get("sample_freq"); v != nil && v.Kind == strictyaml.Int && !emptyValue(v) {
		b.put("sample_freq", v.Value+"%", r.position(v))
	}
}

// tfConsumerDefaults fills in the provider's own defaults, which it sends.
func (r *reader) tfConsumerDefaults(b *draft, values *strictyaml.Node) []audit.Note {
	var notes []audit.Note
	fill := func(field string, value, shown any) {
		if v := values.Get(field); v == nil || v.Kind == strictyaml.Null {
			b.put(field, value, r.position(values))
			notes = append(notes, audit.Note{
				Field: field, Value: shown, Message: fmt.Sprintf("provider default %s %s", field, audit.Show(shown)),
			})
		}
	}
	fill("ack_policy", "explicit", "explicit")
	fill("replay_policy", "instant", "instant")
	fill("max_ack_pending", 20000, 20000)
	fill("ack_wait", providerAckWait, providerAckWait)
	if ladder := values.Get("backoff"); ladder != nil && len(ladder.Items) > 0 {
		notes = perpetualPlan(b, ladder, notes)
	}
	return notes
}

const providerAckWait = 30 * time.Second

// perpetualPlan says that a ladder and the provider's ack_wait never converge:
// it reads back the first rung and plans its own value. In a state and in a plan
// the default stands among the values like any other.
func perpetualPlan(b *draft, ladder *strictyaml.Node, notes []audit.Note) []audit.Note {
	first := ladder.Items[0].Value
	if string(b.members["ack_wait"]) != string(mustJSON(providerAckWait)) || secondsOf(first) == providerAckWait {
		return notes
	}
	plan := audit.Note{
		Field:   "ack_wait",
		Message: fmt.Sprintf("provider default 30s against backoff[0] %ss: Terraform plans the change for ever", first),
		Fix:     fmt.Sprintf("set ack_wait = %s", first),
	}
	for i := range notes {
		if notes[i].Field == "ack_wait" {
			plan.Value = notes[i].Value
			notes[i] = plan
			return notes
		}
	}
	return append(notes, plan)
}

func secondsOf(text string) time.Duration {
	d, err := time.ParseDuration(text + "s")
	if err != nil {
		return 0
	}
	return d
}

// tfDeliver reads the provider's switches for the deliver policy, in its order.
func (r *reader) tfDeliver(b *draft, values *strictyaml.Node) {
	policy := "all"
	switch {
	case values.Text("deliver_all") == "true":
	case values.Text("deliver_last") == "true":
		policy = "last"
	case values.Text("deliver_new") == "true":
		policy = "new"
	case values.Text("deliver_last_per_subject") == "true":
		policy = "last_per_subject"
	case b.members["opt_start_seq"] != nil:
		policy = "by_start_sequence"
	case b.members["opt_start_time"] != nil:
		policy = "by_start_time"
	}
	b.put("deliver_policy", policy, r.position(values))
}

func (r *reader) tfStream(res *strictyaml.Node, path string) {
	values := res.Get("values")
	if values == nil {
		r.errs.Add(res, path, "is missing")
		return
	}
	b := r.draft(true)
	r.tfFields(b, values, tfStreamKeys, path)
	r.tfStreamParts(b, values, path)
	d, err := b.declaration("")
	if err != nil {
		r.errs.Add(values, path, "%v", err)
		return
	}
	r.terraformed(d, res, nil)
}

// tfStreamParts reads the arguments of a stream that have structure.
func (r *reader) tfStreamParts(b *draft, values *strictyaml.Node, path string) {
	at := r.position(values)
	if v := values.Get("ack"); v != nil && v.Value == "false" {
		b.put("no_ack", true, at)
	}
	if c := values.Text("placement_cluster"); c != "" {
		placement := map[string]any{"cluster": c}
		if tags := listOf(values, "placement_tags"); tags != nil && len(tags.Items) > 0 {
			raw, _ := plain(tags) // a list of texts
			placement["tags"] = raw
		}
		b.put("placement", mustJSON(placement), at)
	}
	limits := map[string]any{}
	if v := values.Get("max_ack_pending"); v != nil && !emptyValue(v) {
		limits["max_ack_pending"] = mustJSONOf(v)
	}
	if v := values.Get("inactive_threshold"); v != nil && !emptyValue(v) {
		limits["inactive_threshold"] = secondsOf(v.Value)
	}
	if len(limits) > 0 {
		b.put("consumer_limits", mustJSON(limits), at)
	}
	if list := listOf(values, "source"); list != nil && len(list.Items) > 0 {
		b.set("sources", tfSources(list), path+".source")
	}
	if list := listOf(values, "mirror"); list != nil && len(list.Items) > 0 {
		b.set("mirror", tfSources(list).Items[0], path+".mirror")
	}
}

func mustJSONOf(n *strictyaml.Node) any {
	raw, err := plain(n)
	if err != nil {
		return nil
	}
	return raw
}

// tfSources puts the API's words into the provider's source blocks, without the
// arguments that are empty.
func tfSources(n *strictyaml.Node) *strictyaml.Node {
	words := map[string]string{
		"start_seq": "opt_start_seq", "start_time": "opt_start_time", "subject_transform": "subject_transforms",
		"source": "src", "destination": "dest",
	}
	t := *n
	t.Items, t.Pairs = nil, nil
	for _, item := range n.Items {
		t.Items = append(t.Items, tfSources(item))
	}
	for _, p := range n.Pairs {
		if emptyValue(p.Value) {
			continue
		}
		if w, ok := words[p.Key]; ok {
			p.Key = w
		}
		p.Value = tfSources(p.Value)
		if (p.Key == "external" || p.Key == "consumer") && len(p.Value.Items) == 1 {
			p.Value = p.Value.Items[0]
		}
		t.Pairs = append(t.Pairs, p)
	}
	return &t
}
