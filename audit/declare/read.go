package declare

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/natsmig/natsmig/audit"
	"github.com/natsmig/natsmig/internal/strictyaml"
)

// reader reads one file.
type reader struct {
	file string
	data []byte
	errs *strictyaml.Errors
	set  *Set
}

// Read reads one file's contents. The name is used in positions, and tells JSON
// from YAML where the first byte does not.
func Read(name string, data []byte) (*Set, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff")) // a byte order mark
	docs, err := strictyaml.Parse(name, data)
	r := &reader{file: name, data: data, errs: &strictyaml.Errors{File: name}, set: &Set{}}
	r.errs.Include(err)
	for _, n := range docs {
		r.document(n, "")
	}
	return r.set, r.errs.Err()
}

// document finds out what a document is.
func (r *reader) document(n *strictyaml.Node, path string) {
	switch {
	case n.Kind == strictyaml.List:
		for i, item := range n.Items {
			r.document(item, fmt.Sprintf("%s[%d]", path, i))
		}
	case n.Kind != strictyaml.Mapping:
		r.errs.Add(n, path, "no stream or consumer configuration found")
	case strings.HasPrefix(n.Text("apiVersion"), "natsmig/"):
		r.natsmig(n)
	case n.Has("apiVersion") && n.Has("kind"):
		r.resource(n, path)
	case n.Text("schema") == audit.SnapshotSchema:
		r.snapshot()
	case n.Has("terraform_version") || n.Has("format_version"):
		r.terraform(n)
	case n.Has("resources") && n.Has("serial"):
		r.errs.Add(n, path, "a Terraform state file: give natsmig what `terraform show -json` prints")
	default:
		r.bare(n, path)
	}
}

// resource is a Kubernetes resource: NACK's, a list of them, or another's.
func (r *reader) resource(n *strictyaml.Node, path string) {
	kind := n.Text("kind")
	switch {
	case strings.HasSuffix(kind, "List") && n.Has("items"):
		items := n.Get("items")
		for i, item := range items.Items {
			r.document(item, fmt.Sprintf("%sitems[%d]", dot(path), i))
		}
	case strings.HasPrefix(n.Text("apiVersion"), "jetstream.nats.io/"):
		r.nack(n, kind)
	default:
		r.set.Skipped = append(r.set.Skipped, kind)
	}
}

func dot(path string) string {
	if path == "" {
		return ""
	}
	return path + "."
}

// snapshot declares what a snapshot says is live.
func (r *reader) snapshot() {
	s, err := audit.ReadSnapshot(r.file, r.data)
	if err != nil {
		r.errs.Add(nil, "", "%s", strings.TrimPrefix(err.Error(), r.file+": "))
		return
	}
	ds, err := audit.FromLive(s)
	if err != nil {
		r.errs.Add(nil, "", "%v", err)
		return
	}
	for _, d := range ds {
		d.Position = audit.Position{File: r.file}
	}
	r.set.Declarations = append(r.set.Declarations, ds...)
}

func (r *reader) position(n *strictyaml.Node) audit.Position {
	return audit.Position{File: r.file, Line: n.Line, Col: n.Col}
}

// isJSON says whether the file is the API's own JSON rather than YAML.
func (r *reader) isJSON() bool {
	return bytes.HasPrefix(bytes.TrimSpace(r.data), []byte("{")) || bytes.HasPrefix(bytes.TrimSpace(r.data), []byte("["))
}
