package rehearse_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/natsmig/natsmig/audit"
	"github.com/natsmig/natsmig/audit/broker"
	"github.com/natsmig/natsmig/audit/declare"
	"github.com/natsmig/natsmig/audit/rehearse"
)

// TestCasesAgree rehearses every situation that the audit's own tests tell of:
// what people met in public, and what each rule speaks about. Model and broker
// agree on all that can be rehearsed.
func TestCasesAgree(t *testing.T) {
	t.Parallel()
	all := cases(t)
	onEachBroker(t, func(t *testing.T, binary string) {
		asked := 0
		for _, c := range all {
			r, err := rehearse.Run(t.Context(), c.fleet, c.declarations, rehearse.Options{Binary: binary})
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
				continue
			}
			asked += r.Summary.Agree
			for i := range r.Entries {
				report(t, c.name, &r.Entries[i])
			}
		}
		t.Logf("%d situations, %d declarations", len(all), asked)
		if asked < 60 {
			t.Errorf("model and broker agree on %d declarations, want at least 60: something keeps them from being asked", asked)
		}
	})
}

func report(t *testing.T, name string, e *audit.Rehearsed) {
	t.Helper()
	switch {
	case e.Skipped != "":
		t.Logf("%s: %s skipped: %s", name, e.Name(), e.Skipped)
	case !e.Agrees:
		t.Errorf("%s: %s: %s", name, e.Name(), toJSON(t, e))
	}
}

// A situation is a fleet and what is declared over it.
type situation struct {
	name         string
	fleet        *audit.Fleet
	declarations []*audit.Declaration
}

// cases are the situations of declare's archives. A section's name is a command
// line, as declare's story_test.go tells.
func cases(t *testing.T) (all []situation) {
	t.Helper()
	files, err := filepath.Glob("../declare/testdata/[cr]*/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, file := range files {
		ar, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		for _, f := range ar.Files {
			if _, _, is := strings.Cut(f.Name, "audit "); is {
				continue
			}
			path := filepath.Join(dir, f.Name)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, f.Data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for _, f := range ar.Files {
			label, line, is := strings.Cut(f.Name, "audit ")
			if !is {
				continue
			}
			if s, ok := situate(t, dir, strings.Fields(line)); ok {
				s.name = strings.TrimSuffix(filepath.Base(file), ".txtar") + " " + strings.TrimSpace(label)
				all = append(all, s)
			}
		}
	}
	return all
}

// situate reads what a command line names. Lines that are wrong, or declare
// nothing, are no situation.
func situate(t *testing.T, dir string, args []string) (s situation, ok bool) {
	t.Helper()
	var files []string
	var snapshots []*audit.Snapshot
	var stream string
	for i := 0; i+1 < len(args); i += 2 {
		switch v := args[i+1]; args[i] {
		case "-f":
			files = append(files, filepath.Join(dir, v))
		case "--snapshot":
			data, err := os.ReadFile(filepath.Join(dir, v))
			if err != nil {
				t.Fatal(err)
			}
			snap, err := audit.ReadSnapshot(v, data)
			if err != nil {
				return s, false
			}
			snapshots = append(snapshots, snap)
		case "--stream":
			stream = v
		}
	}
	set, err := declare.Paths(files)
	if err != nil || len(set.Declarations) == 0 {
		return s, false
	}
	f, err := audit.Index(audit.Join(snapshots...), broker.Version{})
	if err != nil || audit.Resolve(f, set.Declarations, stream) != nil {
		return s, false
	}
	if _, err := audit.Compare(f, set.Declarations, audit.Options{}); err != nil {
		return s, false
	}
	return situation{fleet: f, declarations: set.Declarations}, true
}
