package declare_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/natsmig/natsmig/audit"
	"github.com/natsmig/natsmig/audit/broker"
	"github.com/natsmig/natsmig/audit/declare"
)

// A story is a txtar archive of inputs and of what an audit makes of them. The
// name of a section that holds an expectation is the command line that gives it,
// with the command's own flags:
//
//	-- audit -f declared.yaml --snapshot live.json --snapshot stream.json --
//
// Words before "audit" are the section's label. UPDATE=1 rewrites expectations.
type story struct {
	*txtar.Archive
	file string
}

func stories(t testing.TB, pattern string) []story {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no archives match %s: %v", pattern, err)
	}
	all := make([]story, len(files))
	for i, file := range files {
		ar, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all[i].Archive = ar
		if all[i].file, err = filepath.Abs(file); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func (s story) name() string { return strings.TrimSuffix(filepath.Base(s.file), ".txtar") }

// unpack writes the inputs into a folder of their own and goes there.
func (s story) unpack(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	for _, f := range s.Files {
		if _, _, is := command(f.Name); is {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(f.Name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(f.Name, f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// save writes the archive back where UPDATE asks for it.
func (s story) save(t *testing.T) {
	t.Helper()
	if os.Getenv("UPDATE") == "" {
		return
	}
	if err := os.WriteFile(s.file, txtar.Format(s.Archive), 0o600); err != nil {
		t.Fatal(err)
	}
}

// command splits a section's name into its label and the arguments of audit.
func command(section string) (label string, args []string, ok bool) {
	words := strings.Fields(section)
	for i, w := range words {
		if w == "audit" {
			return strings.Join(words[:i], " "), words[i+1:], true
		}
	}
	return "", nil, false
}

// line is a command line of audit, taken apart.
type line struct {
	files, snapshots, since   []string
	stream, version, baseline string
	now                       time.Time
}

func parseLine(t *testing.T, args []string) (l line) {
	t.Helper()
	for i := 0; i+1 < len(args); i += 2 {
		switch v := args[i+1]; args[i] {
		case "-f":
			l.files = append(l.files, v)
		case "--snapshot":
			l.snapshots = append(l.snapshots, v)
		case "--since":
			l.since = append(l.since, v)
		case "--stream":
			l.stream = v
		case "--broker-version":
			l.version = v
		case "--baseline":
			l.baseline = v
		case "--now":
			now, err := time.Parse("2006-01-02", v)
			if err != nil {
				t.Fatal(err)
			}
			l.now = now
		default:
			t.Fatalf("unknown flag %s", args[i])
		}
	}
	return l
}

// run audits as the command does.
func (l *line) run() (*audit.Report, error) {
	set, err := declare.Paths(l.files)
	if err != nil {
		return nil, err
	}
	fleet, err := l.fleet(l.snapshots)
	if err != nil {
		return nil, err
	}
	o := audit.Options{Policy: set.Policy, Now: l.now}
	for _, old := range l.since {
		f, err := l.fleet([]string{old})
		if err != nil {
			return nil, err
		}
		o.Since = append(o.Since, f)
	}
	if l.baseline != "" {
		data, err := os.ReadFile(l.baseline)
		if err != nil {
			return nil, err
		}
		if o.Baseline, err = audit.ReadBaseline(l.baseline, data); err != nil {
			return nil, err
		}
	}
	if err := audit.Resolve(fleet, set.Declarations, l.stream); err != nil {
		return nil, err
	}
	return audit.Compare(fleet, set.Declarations, o)
}

func (l *line) fleet(paths []string) (*audit.Fleet, error) {
	var all []*audit.Snapshot
	for _, p := range paths {
		data, err := os.ReadFile(p)
		if err != nil {
			return nil, err
		}
		s, err := audit.ReadSnapshot(p, data)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	var v broker.Version
	if l.version != "" {
		var err error
		if v, err = broker.ParseVersion(l.version); err != nil {
			return nil, err
		}
	}
	return audit.Index(audit.Join(all...), v)
}

// tell writes a report in a form that a person can check against a case. Where
// a code is given, only that rule's findings are told, and no fields; where none
// is, all but what loose files make the audit assume.
func tell(r *audit.Report, err error, code string) string {
	b := &strings.Builder{}
	if err != nil {
		for l := range strings.SplitSeq(err.Error(), "\n") {
			fmt.Fprintf(b, "error: %s\n", l)
		}
		return b.String()
	}
	fmt.Fprintf(b, "verdict %s\n", r.Verdict)
	for i := range r.Streams {
		tellEntry(b, "stream", &r.Streams[i], code)
	}
	for i := range r.Consumers {
		tellEntry(b, "consumer", &r.Consumers[i], code)
	}
	for _, u := range r.Unknown {
		fmt.Fprintf(b, "unknown %s/%s/%s: %s\n", u.Cell, u.Stream, u.Consumer, u.Reason)
	}
	tellFindings(b, "", r.Tool, code)
	return b.String()
}

func tellEntry(b *strings.Builder, kind string, e *audit.Entry, code string) {
	fmt.Fprintf(b, "%s %s: %s", kind, e.Name(), e.Outcome)
	if e.Writer != "" {
		fmt.Fprintf(b, " (%s)", e.Writer)
	}
	if e.Error != nil {
		fmt.Fprintf(b, " %d: %s", e.Error.ErrCode, e.Error.Description)
	}
	b.WriteByte('\n')
	if code == "" {
		for i := range e.Fields {
			tellField(b, &e.Fields[i])
		}
		if v := e.Envelope; v != nil {
			fmt.Fprintf(b, "  envelope: %s -> %s\n", tellView(v.Before), tellView(v.After))
		}
	}
	tellFindings(b, "  ", e.Findings, code)
}

func tellField(b *strings.Builder, f *audit.Field) {
	fmt.Fprintf(b, "  %s: %s -> %s", f.Name, audit.Show(f.Have), audit.Show(f.After))
	if f.Declared != nil {
		fmt.Fprintf(b, ", declared %s", audit.Show(f.Declared))
	}
	if f.Asked != nil {
		fmt.Fprintf(b, ", asked %s", audit.Show(f.Asked))
	}
	fmt.Fprintf(b, ": %s", f.Class)
	if f.Note != "" {
		fmt.Fprintf(b, " (%s)", f.Note)
	}
	b.WriteByte('\n')
}

func tellView(v *audit.EnvelopeView) string {
	switch {
	case v == nil:
		return "none"
	case v.Unbounded:
		return "unbounded"
	}
	s := fmt.Sprintf("last attempt %d at %s", v.LastAttemptDelivery, v.LastAttempt)
	if v.Capture != "" {
		s += ", capture at " + v.Capture
	}
	if v.Exhausted != "" {
		s += ", exhausted at " + v.Exhausted
	}
	if v.Stalled {
		s += ", stalled"
	}
	return s
}

func tellFindings(b *strings.Builder, indent string, fs []audit.Finding, code string) {
	for i := range fs {
		f := &fs[i]
		if code != "" && f.Code != code || code == "" && f.Code == "NM901" {
			continue
		}
		fmt.Fprintf(b, "%s%s %s", indent, f.Code, f.Severity)
		if f.Field != "" {
			fmt.Fprintf(b, " %s", f.Field)
		}
		if at := f.String(); at != "" {
			fmt.Fprintf(b, " at %s", at)
		}
		fmt.Fprintf(b, ": %s\n", f.Message)
		if f.Fix != "" {
			fmt.Fprintf(b, "%s  fix: %s\n", indent, f.Fix)
		}
		if f.Excused != "" {
			fmt.Fprintf(b, "%s  excused: %s\n", indent, f.Excused)
		}
	}
}
