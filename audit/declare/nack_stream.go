package declare

import (
	"encoding/json"

	"github.com/natsmig/natsmig/internal/strictyaml"
)

// nackStreamKeys is the spec of a Stream (nack deploy/crds.yml, v1beta2), but
// for the keys with structure of their own.
var nackStreamKeys = []nackKey{
	{"name", "name", nil},
	{"description", "description", nil},
	{"subjects", "subjects", nil},
	{"retention", "retention", nil},
	{"maxConsumers", "max_consumers", nil},
	{"maxMsgs", "max_msgs", nil},
	{"maxBytes", "max_bytes", nil},
	{"discard", "discard", nil},
	{"discardPerSubject", "discard_new_per_subject", nil},
	{"maxAge", "max_age", nil},
	{"maxMsgsPerSubject", "max_msgs_per_subject", nil},
	{"maxMsgSize", "max_msg_size", nil},
	{"storage", "storage", nil},
	{"replicas", "num_replicas", nil},
	{"noAck", "no_ack", nil},
	{"duplicateWindow", "duplicate_window", nil},
	{"placement", "placement", nil},
	{"sealed", "sealed", nil},
	{"denyDelete", "deny_delete", nil},
	{"denyPurge", "deny_purge", nil},
	{"allowRollup", "allow_rollup_hdrs", nil},
	{"compression", "compression", nil},
	{"firstSequence", "first_seq", nil},
	{"allowDirect", "allow_direct", nil},
	{"mirrorDirect", "mirror_direct", nil},
	{"allowMsgTtl", "allow_msg_ttl", nil},
	{"subjectDeleteMarkerTtl", "subject_delete_marker_ttl", nil},
	{"allowMsgCounter", "allow_msg_counter", nil},
	{"allowAtomicPublish", "allow_atomic", nil},
	{"allowMsgSchedules", "allow_msg_schedules", nil},
	{"persistMode", "persist_mode", nil},
	{"metadata", "metadata", nil},
}

// nackStreamAlways are the fields that the controller sends even when the spec
// leaves them out (nack internal/controller/stream_controller.go).
var nackStreamAlways = []string{
	"description", "subjects", "max_consumers", "max_msgs", "max_bytes", "max_msg_size", "num_replicas", "metadata", "placement",
}

var nackStreamPresets = []preset{
	{"retention", "retention", "limits"},
	{"storage", "storage", "memory"},
	{"replicas", "num_replicas", "1"},
	{"discard", "discard", "old"},
}

// renamed are NACK's words inside a key with structure, and the API's.
var renamed = map[string]string{
	"optStartSeq": "opt_start_seq", "optStartTime": "opt_start_time", "filterSubject": "filter_subject",
	"subjectTransforms": "subject_transforms", "source": "src", "destination": "dest", "dest": "dest",
	"headersOnly": "headers_only", "inactiveThreshold": "inactive_threshold", "maxAckPending": "max_ack_pending",
}

func (r *reader) nackStream(n *strictyaml.Node) {
	spec := n.Get("spec")
	if spec == nil {
		r.errs.Add(n, "spec", "is missing")
		return
	}
	o := r.errs.Object(spec, "spec")
	b := r.draft(true)
	notes := r.nackFields(o, b, nackStreamKeys, nackStreamPresets)
	for _, k := range []struct{ key, field string }{
		{"mirror", "mirror"},
		{"sources", "sources"},
		{"subjectTransform", "subject_transform"},
		{"republish", "republish"},
		{"consumerLimits", "consumer_limits"},
	} {
		if v := o.Node(k.key); v != nil {
			b.set(k.field, translate(v), o.Path(k.key))
		}
	}
	unknown := r.nackUnknown(o, nackStreamKeys)
	if b.members["name"] == nil {
		r.errs.Add(spec, "spec.name", "is missing: the controller does not take metadata.name")
	}
	r.finish(b, n, "", notes, nackStreamAlways, unknown)
}

// translate puts the API's words into a key with structure. External prefixes
// become an object of their own.
func translate(n *strictyaml.Node) *strictyaml.Node {
	t := *n
	t.Pairs, t.Items = nil, nil
	for _, item := range n.Items {
		t.Items = append(t.Items, translate(item))
	}
	external := &strictyaml.Node{Kind: strictyaml.Mapping, Line: n.Line, Col: n.Col}
	for _, p := range n.Pairs {
		p.Value = translate(p.Value)
		switch p.Key {
		case "externalApiPrefix":
			p.Key = "api"
			external.Pairs = append(external.Pairs, p)
		case "externalDeliverPrefix":
			p.Key = "deliver"
			external.Pairs = append(external.Pairs, p)
		default:
			if word, ok := renamed[p.Key]; ok {
				p.Key = word
			}
			t.Pairs = append(t.Pairs, p)
		}
	}
	if len(external.Pairs) > 0 {
		t.Pairs = append(t.Pairs, strictyaml.Pair{Key: "external", Line: n.Line, Col: n.Col, Value: external})
	}
	return &t
}

// mustJSON writes a value that can not fail to be written.
func mustJSON(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage("null")
	}
	return raw
}
