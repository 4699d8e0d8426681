package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/natsmig/natsmig/audit"
	"github.com/natsmig/natsmig/audit/broker"
)

// Value is how a configuration value reads on one line: nil as -, durations as
// [audit.Duration] writes them, whole KiB, MiB and so on with their unit, lists as
// [a b], objects as {key: value, other: value} with sorted keys. v is anything
// that encoding/json can write; kind says what its numbers mean, and an empty
// kind is [broker.KindValue]. The result holds no control characters.
func Value(kind broker.Kind, v any) string { return show(kind, decode(v), false) }

// decode takes v to the few types that JSON has, numbers unrounded.
func decode(v any) any {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var out any
	if err := dec.Decode(&out); err != nil {
		return fmt.Sprint(v)
	}
	return out
}

// show writes a decoded value. Inside says that it stands in a list or object,
// where a text with spaces needs quotes.
func show(kind broker.Kind, v any, inside bool) string {
	switch v := v.(type) {
	case nil:
		if inside {
			return "null"
		}
		return absent
	case json.Number:
		return number(kind, v)
	case string:
		return word(v, inside)
	case []any:
		items := make([]string, len(v))
		for i, item := range v {
			items[i] = show(kind, item, true)
		}
		return "[" + strings.Join(items, " ") + "]"
	case map[string]any:
		return object(v)
	default:
		return fmt.Sprint(v)
	}
}

func object(m map[string]any) string {
	var items []string
	for _, key := range slices.Sorted(maps.Keys(m)) {
		items = append(items, word(key, true)+": "+show(kindOf(key), m[key], true))
	}
	return "{" + strings.Join(items, ", ") + "}"
}

// number writes n, which counts nanoseconds or bytes if kind says so.
func number(kind broker.Kind, n json.Number) string {
	i, err := n.Int64()
	switch {
	case err != nil:
		return n.String()
	case kind == broker.KindDuration:
		return audit.Duration(time.Duration(i))
	case kind == broker.KindBytes:
		return size(i)
	default:
		return n.String()
	}
}

// size writes whole multiples with their unit and everything else in bytes: a
// rounded size would hide a difference.
func size(n int64) string {
	unit := ""
	for _, next := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if n == 0 || n%1024 != 0 {
			break
		}
		n, unit = n/1024, next
	}
	return strconv.FormatInt(n, 10) + unit
}

// word writes a text, with quotes where it could be taken for something else.
func word(s string, inside bool) string {
	mistakable := s == "" || s == absent || s == uncertain || s != strings.TrimSpace(s) || s != clean(s, false)
	if mistakable || inside && strings.ContainsAny(s, ` ,:"[]{}`) {
		return strconv.Quote(s)
	}
	return s
}

// fieldKind is the kind of f. A report that was read from a file has lost it.
func fieldKind(f *audit.Field) broker.Kind {
	if f.Kind != "" {
		return f.Kind
	}
	return kindOf(f.Name)
}

// kindOf is the kind of a field with that wire name, wherever it stands.
func kindOf(name string) broker.Kind {
	switch name[strings.LastIndexByte(name, '.')+1:] {
	case "ack_wait", "backoff", "duplicate_window", "idle_heartbeat", "inactive_threshold",
		"max_age", "max_expires", "priority_timeout", "subject_delete_marker_ttl":
		return broker.KindDuration
	case "max_bytes", "max_msg_size":
		return broker.KindBytes
	default:
		return broker.KindValue
	}
}
