package natsmig_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const module = "github.com/natsmig/natsmig"

// mayImport is the architecture of the module: for each package, the packages
// of this module that it may import when it ships. Tests may import these, what
// testsMayImport lists, and the package that they test. A row may stand here
// before its package does.
var mayImport = map[string][]string{
	"timingcontract":       {},
	"timingcontract/prove": {"timingcontract", "internal/embedded"},
	"audit":                {"audit/broker", "timingcontract", "internal/spell"},
	"audit/broker":         {},
	"audit/declare":        {"audit", "audit/broker", "timingcontract", "internal/strictyaml"},
	"audit/rehearse":       {"audit", "audit/broker", "internal/embedded"},
	"jsconsumer":           {"internal/engine", "readiness", "timingcontract"},
	"jsconsumer/metrics":   {"jsconsumer", "readiness"},
	"jsconsumer/slogging":  {"jsconsumer", "readiness"},
	"jsconsumer/tracing":   {"jsconsumer"},
	"natstest":             {"internal/embedded"},
	"readiness":            {},
	"examples/worker":      {"jsconsumer", "jsconsumer/slogging", "readiness", "timingcontract"},
	"internal/embedded":    {},
	"internal/engine":      {"readiness"},
	"internal/fleet":       {},
	"internal/natsconn":    {},
	"internal/report":      {"audit", "audit/broker", "readiness", "timingcontract"},
	"internal/spell":       {},
	"internal/strictyaml":  {"internal/spell"},
	"cmd/natsmig": {
		"audit", "audit/broker", "audit/declare", "audit/rehearse", "timingcontract", "timingcontract/prove",
		"internal/embedded", "internal/fleet", "internal/natsconn", "internal/report", "internal/spell", "readiness",
	},
}

var testsMayImport = []string{"natstest", "internal/fleet", "audit/declare", "timingcontract"}

// mayLink lists packages that only some rooms may depend on, be it through
// others, and why. It is about what ships, not about tests.
var mayLink = []restriction{
	{
		pkg: "github.com/nats-io/nats-server/v2",
		only: []string{
			"natstest", "audit/rehearse", "timingcontract/prove",
			"internal/embedded", "internal/fleet", "cmd/natsmig",
		},
		why: "a service that imports the module must not carry a server",
	},
	{pkg: "github.com/prometheus", only: []string{"jsconsumer/metrics"}, why: "a service without it must not carry it"},
	{pkg: "go.opentelemetry.io", only: []string{"jsconsumer/tracing"}, why: "a service without it must not carry it"},
	{pkg: "testing", only: []string{"natstest"}, why: "it registers flags in the program that links it"},
}

// mayUse lists packages that only some rooms may import, tests included.
var mayUse = []restriction{
	{pkg: "gopkg.in/yaml.v3", only: []string{"internal/strictyaml"}, why: "by itself it loses positions and mistakes"},
	{pkg: "github.com/olekukonko/tablewriter", only: []string{"internal/report"}, why: "by itself it escapes nothing"},
}

// pure lists rooms whose promise is that they cannot reach what is named here,
// be it through others.
var pure = map[string]func(dep string) bool{
	"timingcontract": outsideStandard,
	"audit/broker":   func(dep string) bool { return within(dep, "github.com/nats-io") },
}

func TestArchitecture(t *testing.T) {
	for _, problem := range problems(listPackages(t)) {
		t.Error(problem)
	}
}

func listPackages(t *testing.T) []listedPackage {
	t.Helper()
	touchSources(t)
	const fields = "-json=ImportPath,Doc,Imports,TestImports,XTestImports,Deps"
	cmd := exec.CommandContext(t.Context(), "go", "list", fields, "./...")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var ps []listedPackage
	for dec := json.NewDecoder(strings.NewReader(string(out))); dec.More(); {
		var p listedPackage
		if err := dec.Decode(&p); err != nil {
			t.Fatal(err)
		}
		ps = append(ps, p)
	}
	return ps
}

// touchSources opens what `go list` will read. The go command caches a test by
// the files that the test itself opens, and would otherwise repeat an old pass.
// Hidden folders hold no packages, and git moves its files about meanwhile.
func touchSources(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != "." && strings.HasPrefix(d.Name(), ".") {
			return filepath.SkipDir
		}
		if strings.HasSuffix(path, ".go") || path == "go.mod" {
			_, err = os.ReadFile(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
