package natsmig_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// A listedPackage is what `go list` knows about one package.
type listedPackage struct {
	ImportPath, Doc                          string
	Imports, TestImports, XTestImports, Deps []string
}

// name is the import path without the module's; empty for the root.
func (p listedPackage) name() string {
	return strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
}

func (p listedPackage) testImports() []string { return slices.Concat(p.TestImports, p.XTestImports) }

// A restriction keeps pkg, and what lies under it, for the rooms in only.
type restriction struct {
	pkg  string
	only []string
	why  string
}

func (r restriction) violated(room string, imports []string) bool {
	return !slices.Contains(r.only, room) && slices.ContainsFunc(imports, func(imp string) bool { return within(imp, r.pkg) })
}

// problems applies every rule to every package.
func problems(ps []listedPackage) []string {
	var found []string
	for _, p := range ps {
		if p.name() == "" {
			continue // the root holds these tests and nothing else
		}
		found = append(found, misplaced(p)...)
		found = append(found, restricted(p)...)
		found = append(found, impure(p)...)
		if strings.TrimSpace(p.Doc) == "" {
			found = append(found, p.name()+" has no package comment")
		}
	}
	return found
}

func misplaced(p listedPackage) []string {
	allowed, ok := mayImport[p.name()]
	if !ok {
		return []string{p.name() + " is not in mayImport: give it a place in the architecture"}
	}
	var found []string
	for _, imp := range local(p.Imports) {
		if !slices.Contains(allowed, imp) {
			found = append(found, fmt.Sprintf("%s imports %s; it may import %q", p.name(), imp, allowed))
		}
	}
	inTests := slices.Concat([]string{p.name()}, testsMayImport, allowed)
	for _, imp := range local(p.testImports()) {
		if !slices.Contains(inTests, imp) {
			found = append(found, fmt.Sprintf("tests of %s import %s; they may import %q", p.name(), imp, inTests))
		}
	}
	return found
}

func restricted(p listedPackage) []string {
	var found []string
	for _, r := range mayLink {
		if r.violated(p.name(), p.Deps) {
			found = append(found, fmt.Sprintf("%s links %s: %s", p.name(), r.pkg, r.why))
		}
	}
	for _, r := range mayUse {
		if r.violated(p.name(), slices.Concat(p.Imports, p.testImports())) {
			found = append(found, fmt.Sprintf("%s imports %s: %s", p.name(), r.pkg, r.why))
		}
	}
	return found
}

func impure(p listedPackage) []string {
	var found []string
	if forbidden, ok := pure[p.name()]; ok {
		for _, dep := range slices.DeleteFunc(slices.Clone(p.Deps), func(d string) bool { return !forbidden(d) }) {
			found = append(found, fmt.Sprintf("%s promises not to depend on %s", p.name(), dep))
		}
	}
	return found
}

// local returns the imports that are of this module, without its path.
func local(imports []string) []string {
	var ls []string
	for _, imp := range imports {
		if rest, ok := strings.CutPrefix(imp, module+"/"); ok {
			ls = append(ls, rest)
		}
	}
	return ls
}

// within tells whether pkg is root or lies under it.
func within(pkg, root string) bool { return pkg == root || strings.HasPrefix(pkg, root+"/") }

// outsideStandard tells whether pkg is not in the standard library: only there
// do import paths start with a name that has no dot.
func outsideStandard(pkg string) bool {
	first, _, _ := strings.Cut(pkg, "/")
	return strings.Contains(first, ".")
}

// TestArchitectureCanFail shows each rule a package that breaks it.
func TestArchitectureCanFail(t *testing.T) {
	const server = "github.com/nats-io/nats-server/v2/server"
	in := func(names ...string) []string {
		for i := range names {
			names[i] = module + "/" + names[i]
		}
		return names
	}
	for _, tt := range []struct {
		want string // empty: nothing is wrong
		pkg  listedPackage
	}{
		{"is not in mayImport", listedPackage{ImportPath: module + "/util"}},
		{"audit imports internal/report; it may", listedPackage{ImportPath: module + "/audit", Imports: in("internal/report")}},
		{"imports cmd/natsmig", listedPackage{ImportPath: module + "/natstest", Imports: in("cmd/natsmig")}},
		{"tests of audit/broker import audit;", listedPackage{ImportPath: module + "/audit/broker", XTestImports: in("audit")}},
		{"", listedPackage{ImportPath: module + "/audit", XTestImports: in("audit", "natstest", "internal/fleet")}},
		{"audit links github.com/nats-io/nats-server", listedPackage{ImportPath: module + "/audit", Deps: []string{server}}},
		{"", listedPackage{ImportPath: module + "/internal/fleet", Deps: []string{server}}},
		{"internal/natsconn links testing", listedPackage{ImportPath: module + "/internal/natsconn", Deps: []string{"testing"}}},
		{"", listedPackage{ImportPath: module + "/natstest", Deps: []string{"testing", server}}},
		{"jsconsumer links github.com/prometheus", listedPackage{ImportPath: module + "/jsconsumer", Deps: []string{"github.com/prometheus/client_golang/prometheus"}}},
		{"readiness links go.opentelemetry.io", listedPackage{ImportPath: module + "/readiness", Deps: []string{"go.opentelemetry.io/otel/trace"}}},
		{"internal/engine links testing", listedPackage{ImportPath: module + "/internal/engine", Deps: []string{"testing"}}},
		{"", listedPackage{ImportPath: module + "/jsconsumer/metrics", Deps: []string{"github.com/prometheus/client_golang/prometheus"}}},
		{"timingcontract promises", listedPackage{ImportPath: module + "/timingcontract", Deps: []string{"time", "github.com/google/go-cmp/cmp"}}},
		{"", listedPackage{ImportPath: module + "/timingcontract", Deps: []string{"time", "vendor/golang.org/x/net/idna"}}},
		{"audit/broker promises", listedPackage{ImportPath: module + "/audit/broker", Deps: []string{"github.com/nats-io/nats.go"}}},
		{"imports gopkg.in/yaml.v3", listedPackage{ImportPath: module + "/audit/declare", TestImports: []string{"gopkg.in/yaml.v3"}}},
		{"", listedPackage{ImportPath: module + "/internal/strictyaml", Imports: []string{"gopkg.in/yaml.v3"}}},
		{"imports github.com/olekukonko/tablewriter", listedPackage{ImportPath: module + "/cmd/natsmig", Imports: []string{"github.com/olekukonko/tablewriter/tw"}}},
	} {
		tt.pkg.Doc = "Package p is documented."
		got := strings.Join(problems([]listedPackage{tt.pkg}), "; ")
		if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.pkg.ImportPath, got, tt.want)
		}
	}
	if got := problems([]listedPackage{{ImportPath: module + "/audit"}}); len(got) != 1 || !strings.Contains(got[0], "no package comment") {
		t.Errorf("a package without a comment: got %q", got)
	}
}

// TestRoomsAreKnown keeps misspelt rooms out of the other tables. Rooms to come
// are listed here until they have a row.
func TestRoomsAreKnown(t *testing.T) {
	toCome := []string{"audit/rehearse", "timingcontract/prove"}
	named := slices.Concat(testsMayImport, slices.Collect(maps.Keys(pure)))
	for _, r := range slices.Concat(mayLink, mayUse) {
		named = append(named, r.only...)
	}
	for _, allowed := range mayImport {
		named = append(named, allowed...)
	}
	for _, room := range named {
		if _, ok := mayImport[room]; !ok && !slices.Contains(toCome, room) {
			t.Errorf("%s has no row in mayImport", room)
		}
	}
}
