package declare

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"strings"
	"time"

	"github.com/natsmig/natsmig/audit"
	"github.com/natsmig/natsmig/audit/broker"
)

// Write writes declarations as natsmig's own YAML: a document for the streams
// of a target, and one for the consumers of each stream. What [Read] makes of it
// is the same declarations. Handlers, reasons and policy are not written: the
// text is where a team starts to add them.
func Write(w io.Writer, ds []*audit.Declaration) error {
	b := &writer{}
	for _, g := range groups(ds) {
		b.group(g)
	}
	_, err := w.Write(b.buf.Bytes())
	return err
}

// A group is the declarations that share a document.
type group struct {
	kind, stream string
	writer       audit.Writer
	target       audit.Target
	ds           []*audit.Declaration
}

func groups(ds []*audit.Declaration) []*group {
	var all []*group
	for _, d := range ds {
		g := group{kind: "Consumers", stream: d.Stream, writer: d.Writer, target: d.Target}
		if d.Consumer == "" {
			g.kind, g.stream = "Streams", ""
		}
		var into *group
		for _, have := range all {
			if have.kind == g.kind && have.stream == g.stream && have.writer == g.writer && have.target == g.target {
				into = have
			}
		}
		if into == nil {
			into = &g
			all = append(all, into)
		}
		into.ds = append(into.ds, d)
	}
	return all
}

type writer struct{ buf bytes.Buffer }

func (b *writer) line(indent int, format string, args ...any) {
	b.buf.WriteString(strings.Repeat(" ", indent))
	fmt.Fprintf(&b.buf, format+"\n", args...)
}

func (b *writer) group(g *group) {
	if b.buf.Len() > 0 {
		b.line(0, "---")
	}
	b.line(0, "apiVersion: natsmig/v1")
	b.line(0, "kind: %s", g.kind)
	b.target(g.target)
	if g.stream != "" {
		b.line(0, "stream: %s", text(g.stream))
	}
	b.line(0, "writer: %s", g.writer)
	b.line(0, "%s:", strings.ToLower(g.kind))
	for _, d := range g.ds {
		b.declaration(d)
	}
}

func (b *writer) target(t audit.Target) {
	if t == (audit.Target{}) {
		return
	}
	b.line(0, "target:")
	for _, p := range []struct{ key, value string }{
		{"cell", t.Cell}, {"cluster", t.Cluster}, {"domain", t.Domain}, {"account", t.Account},
	} {
		if p.value != "" {
			b.line(2, "%s: %s", p.key, text(p.value))
		}
	}
}

func (b *writer) declaration(d *audit.Declaration) {
	switch {
	case d.Consumer == "":
		b.line(0, "- name: %s", text(d.Stream))
		writeConfig(b, &d.StreamRequest.Config, d.Declared, broker.StreamFields())
	case d.Request.Config.Durable != "":
		b.line(0, "- durable: %s", text(d.Consumer))
		writeConfig(b, &d.Request.Config, d.Declared, broker.ConsumerFields())
	default:
		b.line(0, "- name: %s", text(d.Consumer))
		writeConfig(b, &d.Request.Config, d.Declared, broker.ConsumerFields())
	}
}

func writeConfig[C any](b *writer, c *C, declared broker.FieldSet, fields []broker.Field[C]) {
	b.line(2, "config:")
	empty := true
	for i := range fields {
		f := &fields[i]
		if !declared.Has(i) || f.Name == "name" || f.Name == "durable_name" {
			continue
		}
		v := f.Get(c)
		if v == nil {
			continue
		}
		empty = false
		b.value(4, f.Name, v)
	}
	if empty {
		b.buf.Truncate(b.buf.Len() - 1)
		b.buf.WriteString(" {}\n")
	}
}

// value writes a member. Structures are written in YAML's flow style, which is
// JSON.
func (b *writer) value(indent int, key string, v any) {
	switch v := v.(type) {
	case time.Duration:
		b.line(indent, "%s: %s", key, audit.Duration(v))
	case []time.Duration:
		parts := make([]string, len(v))
		for i, d := range v {
			parts[i] = audit.Duration(d)
		}
		b.line(indent, "%s: [%s]", key, strings.Join(parts, ", "))
	case []string:
		b.line(indent, "%s:", key)
		for _, s := range v {
			b.line(indent, "- %s", text(s))
		}
	case time.Time:
		b.line(indent, "%s: %q", key, v.Format(time.RFC3339Nano))
	case map[string]string:
		b.line(indent, "%s:", key)
		for _, k := range sortedKeys(v) {
			b.line(indent+2, "%s: %s", text(k), text(v[k]))
		}
	case bool, int, int32, int64, uint64:
		b.line(indent, "%s: %v", key, v)
	default:
		if r := reflect.ValueOf(v); r.Kind() == reflect.String {
			b.line(indent, "%s: %s", key, text(r.String()))
			return
		}
		b.line(indent, "%s: %s", key, flow(v))
	}
}

// plainText is text that YAML reads as that very text without quotes.
var plainText = regexp.MustCompile(`^[A-Za-z_$/][A-Za-z0-9_.$/>*-]*$`)

// words that YAML reads as something else than text.
var reserved = regexp.MustCompile(`^(?i:y|n|yes|no|on|off|true|false|null)$`)

// text writes a scalar, quoted where YAML would read it otherwise.
func text(s string) string {
	if plainText.MatchString(s) && !reserved.MatchString(s) {
		return s
	}
	return flow(s)
}

// unprintable are the characters that JSON writes as they are, and that YAML
// refuses or takes for the end of a line.
var unprintable = regexp.MustCompile(`[\x7f-\x9f\x{feff}\x{fffe}\x{ffff}]`)

// flow writes a value as JSON, which is YAML too once every character is
// printable.
func flow(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "null"
	}
	return unprintable.ReplaceAllStringFunc(strings.TrimSuffix(b.String(), "\n"), func(s string) string {
		return fmt.Sprintf(`\u%04x`, []rune(s)[0])
	})
}
