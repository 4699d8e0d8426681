package declare

import (
	"fmt"
	"strings"

	"github.com/natsmig/natsmig/audit"
	"github.com/natsmig/natsmig/audit/broker"
	"github.com/natsmig/natsmig/internal/strictyaml"
)

// A nackKey is one key of a NACK resource's spec and the field it becomes.
type nackKey struct {
	key, field string
	words      map[string]string // NACK's spelling of a policy to the API's
}

var (
	nackDeliver = map[string]string{
		"all": "all", "last": "last", "new": "new", "byStartSequence": "by_start_sequence",
		"byStartTime": "by_start_time", "lastPerSubject": "last_per_subject",
	}
	nackAck = map[string]string{"none": "none", "all": "all", "explicit": "explicit"}
)

// nackConsumer is the spec of a Consumer (nack deploy/crds.yml, v1beta2).
var nackConsumer = []nackKey{
	{"durableName", "durable_name", nil},
	{"description", "description", nil},
	{"deliverPolicy", "deliver_policy", nackDeliver},
	{"optStartSeq", "opt_start_seq", nil},
	{"optStartTime", "opt_start_time", nil},
	{"ackPolicy", "ack_policy", nackAck},
	{"ackWait", "ack_wait", nil},
	{"maxDeliver", "max_deliver", nil},
	{"backoff", "backoff", nil},
	{"filterSubject", "filter_subject", nil},
	{"filterSubjects", "filter_subjects", nil},
	{"replayPolicy", "replay_policy", nil},
	{"rateLimitBps", "rate_limit_bps", nil},
	{"sampleFreq", "sample_freq", nil},
	{"maxWaiting", "max_waiting", nil},
	{"maxAckPending", "max_ack_pending", nil},
	{"flowControl", "flow_control", nil},
	{"headersOnly", "headers_only", nil},
	{"maxRequestBatch", "max_batch", nil},
	{"maxRequestExpires", "max_expires", nil},
	{"maxRequestMaxBytes", "max_bytes", nil},
	{"deliverSubject", "deliver_subject", nil},
	{"deliverGroup", "deliver_group", nil},
	{"heartbeatInterval", "idle_heartbeat", nil},
	{"inactiveThreshold", "inactive_threshold", nil},
	{"replicas", "num_replicas", nil},
	{"memStorage", "mem_storage", nil},
	{"metadata", "metadata", nil},
	{"pauseUntil", "pause_until", nil},
	{"priorityGroups", "priority_groups", nil},
	{"priorityPolicy", "priority_policy", nil},
	{"pinnedTtl", "priority_timeout", nil},
}

// nackAlways are the fields that the controller sends even when the spec leaves
// them out (nack internal/controller/consumer_controller.go consumerSpecToConfig).
var nackAlways = []string{
	"description", "deliver_subject", "deliver_group", "max_ack_pending", "max_waiting",
	"rate_limit_bps", "max_batch", "max_bytes", "num_replicas", "metadata",
}

// nackOther are spec keys that are about the controller, not the consumer.
var nackOther = []string{
	"account", "creds", "nkey", "preventDelete", "preventUpdate", "servers", "tls", "tlsFirst", "jsDomain", "streamName",
}

// A preset is what the resource definition fills in.
type preset struct{ key, field, value string }

var nackConsumerPresets = []preset{
	{"ackPolicy", "ack_policy", "none"},
	{"ackWait", "ack_wait", "1ns"},
	{"deliverPolicy", "deliver_policy", "all"},
	{"replayPolicy", "replay_policy", "instant"},
}

// nack reads a NACK resource.
func (r *reader) nack(n *strictyaml.Node, kind string) {
	switch kind {
	case "Consumer":
		r.nackConsumer(n)
	case "Stream":
		r.nackStream(n)
	case "KeyValue", "ObjectStore", "Account", "StreamTemplate", "ConsumerTemplate":
		r.set.Skipped = append(r.set.Skipped, kind)
	default:
		r.errs.Add(n.Get("kind"), "kind", "unknown kind %q of jetstream.nats.io%s", kind,
			strictyaml.Suggest(kind, []string{"Consumer", "Stream", "KeyValue", "ObjectStore", "Account"}))
	}
}

func (r *reader) nackConsumer(n *strictyaml.Node) {
	spec := n.Get("spec")
	if spec == nil {
		r.errs.Add(n, "spec", "is missing")
		return
	}
	o := r.errs.Object(spec, "spec")
	var stream string
	o.Text("streamName", &stream)
	b := r.draft(false)
	notes := r.nackFields(o, b, nackConsumer, nackConsumerPresets)
	notes = append(notes, r.pinned(b)...)
	unknown := r.nackUnknown(o, nackConsumer)
	if b.members["durable_name"] == nil {
		r.errs.Add(spec, "spec.durableName", "is missing: the controller does not take metadata.name")
	}
	if stream == "" {
		r.errs.Add(spec, "spec.streamName", "is missing")
	}
	r.finish(b, n, stream, notes, nackAlways, unknown)
}

// nackFields takes the spec apart and fills in what the API server would.
func (r *reader) nackFields(o *strictyaml.Object, b *draft, keys []nackKey, presets []preset) []audit.Note {
	for _, k := range keys {
		v := o.Node(k.key)
		if v == nil || v.Kind == strictyaml.String && v.Value == "" {
			continue
		}
		r.nackField(b, k, v, o.Path(k.key))
	}
	var notes []audit.Note
	for _, p := range presets {
		if b.members[p.field] != nil {
			continue
		}
		v := &strictyaml.Node{Kind: strictyaml.String, Value: p.value, Line: o.Here().Line, Col: o.Here().Col}
		if p.value == "1" {
			v.Kind = strictyaml.Int
		}
		b.set(p.field, v, o.Path(p.key))
		notes = append(notes, audit.Note{
			Field: p.field, Value: p.value, Message: fmt.Sprintf("CRD default %s %s", p.key, p.value),
		})
	}
	return notes
}

func (r *reader) nackField(b *draft, k nackKey, v *strictyaml.Node, path string) {
	if k.words == nil {
		b.set(k.field, v, path)
		return
	}
	word, ok := k.words[v.Value]
	if !ok {
		r.errs.Add(v, path, "%q is not one of %v%s", v.Value, sortedKeys(k.words), strictyaml.Suggest(v.Value, sortedKeys(k.words)))
		return
	}
	b.put(k.field, word, r.position(v))
}

// pinned drops the priority settings that the controller does not send: it adds
// pinned_client only together with pinnedTtl.
func (r *reader) pinned(b *draft) []audit.Note {
	if string(b.members["priority_policy"]) != `"pinned_client"` || b.members["priority_timeout"] != nil {
		return nil
	}
	at := b.at["priority_policy"]
	delete(b.members, "priority_policy")
	delete(b.members, "priority_groups")
	b.at["priority_policy"] = at
	return []audit.Note{{
		Field: "priority_policy", Unsent: true,
		Message: "priorityPolicy pinned_client without pinnedTtl is not sent: the consumer has no priority policy, and clients that pull with a group fail",
		Fix:     "write pinnedTtl (the server's own default would be 2m)",
	}}
}

// nackUnknown reports keys that the resource definition does not have, and
// returns what they were meant to be.
func (r *reader) nackUnknown(o *strictyaml.Object, keys []nackKey) []unknownKey {
	known := append([]string{}, nackOther...)
	for _, k := range keys {
		known = append(known, k.key)
	}
	for _, k := range nackOther {
		o.Node(k)
	}
	var all []unknownKey
	for _, p := range o.Rest() {
		near := strictyaml.Near(p.Key, known)
		field := ""
		for _, k := range keys {
			if k.key == near {
				field = k.field
			}
		}
		all = append(all, unknownKey{p, near, field})
	}
	return all
}

// An unknownKey is a key that Kubernetes prunes without a word.
type unknownKey struct {
	pair  strictyaml.Pair
	near  string // the key that was probably meant
	field string // the field that it stands for
}

// finish makes the declaration of a resource. Unknown keys are told together
// with what is in force without them.
func (r *reader) finish(b *draft, n *strictyaml.Node, stream string, notes []audit.Note, always []string, unknown []unknownKey) {
	d, err := b.declaration(stream)
	for _, u := range unknown {
		r.errs.AddKey(u.pair, "spec", "unknown key %q%s Kubernetes drops it without a word%s", u.pair.Key, quoteNear(u.near), inForce(d, u.field))
	}
	if err != nil { // it has no name, which is told already
		return
	}
	d.Writer, d.Origin, d.Notes, d.Position = audit.Merge, audit.FromNACK, notes, r.position(n)
	for _, field := range always {
		find := broker.ConsumerFieldIndex
		if b.stream {
			find = broker.StreamFieldIndex
		}
		if i, ok := find(field); ok {
			d.Always.Add(i)
		}
	}
	if n.Get("spec").Text("preventUpdate") == "true" {
		d.Writer = audit.Bind
	}
	d.Ready = ready(n)
	lastApplied(d, n)
	r.set.Declarations = append(r.set.Declarations, d)
}

// lastApplied reads the config that the controller noted when it applied the
// resource. A note that can not be read is as good as none.
func lastApplied(d *audit.Declaration, n *strictyaml.Node) {
	notes := n.Get("metadata").Get("annotations")
	if state := notes.Text("consumer.nats.io/state"); d.Consumer != "" && state != "" {
		if dec, err := broker.DecodeConsumer([]byte(state)); err == nil && dec.Err == nil {
			d.LastApplied = &dec.Config
		}
	}
	if state := notes.Text("stream.nats.io/state"); d.Consumer == "" && state != "" {
		if dec, err := broker.DecodeStream([]byte(state)); err == nil && dec.Err == nil {
			d.LastAppliedStream = &dec.Config
		}
	}
}

func quoteNear(near string) string {
	if near == "" {
		return ":"
	}
	return fmt.Sprintf("; did you mean %q?", near)
}

// inForce says what a new stream or consumer gets without the key.
func inForce(d *audit.Declaration, field string) string {
	if field == "" || d == nil {
		return ""
	}
	b := broker.Broker{Version: broker.Newest, Clustered: true}
	var v any
	if d.Consumer == "" {
		res := b.Stream(nil, nil, nil, d.StreamRequest)
		if i, ok := broker.StreamFieldIndex(field); ok && res.Asked != nil {
			v = broker.StreamFields()[i].Get(res.Asked)
		}
	} else {
		stream := &broker.Stream{Config: &broker.StreamConfig{Name: d.Stream, Replicas: 5}}
		res := b.Consumer(stream, nil, d.Request)
		if i, ok := broker.ConsumerFieldIndex(field); ok && res.Asked != nil {
			v = broker.ConsumerFields()[i].Get(res.Asked)
		}
	}
	if field == "backoff" && v == nil {
		return fmt.Sprintf(" (in force: no backoff, every retry waits ack_wait %s)", audit.Show(d.Request.Config.AckWait))
	}
	if v == nil {
		return fmt.Sprintf(" (in force: no %s)", field)
	}
	return fmt.Sprintf(" (in force: %s %s)", field, audit.Show(v))
}

// ready says whether the controller claims to have applied the resource.
func ready(n *strictyaml.Node) bool {
	conditions := n.Get("status").Get("conditions")
	if conditions == nil {
		return false
	}
	for _, c := range conditions.Items {
		if c.Text("type") == "Ready" && strings.EqualFold(c.Text("status"), "true") {
			return true
		}
	}
	return false
}
