package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"
)

func writeScriptFile(ts *testscript.TestScript, name string, data []byte) error {
	return os.WriteFile(ts.MkAbs(name), data, 0o644)
}

func readJSON(ts *testscript.TestScript, file string) any {
	var v any
	if err := json.Unmarshal([]byte(ts.ReadFile(file)), &v); err != nil {
		ts.Fatalf("%s: %v", file, err)
	}
	return v
}

// member looks for a member of a JSON file. In its path, parts stand between
// slashes; in a list a part is an index, or a name that one of the item's members
// has.
func member(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: member FILE PATH [VALUE]")
	}
	v, found := readJSON(ts, args[0]), true
	for part := range strings.SplitSeq(args[1], "/") {
		if v, found = child(v, part); !found {
			break
		}
	}
	text, err := json.Marshal(v)
	ts.Check(err)
	got := strings.Trim(string(text), `"`)
	ok := found && (len(args) == 2 || got == args[2])
	if ok == neg {
		ts.Fatalf("%s: there: %t, value %.200s", args[1], found, got)
	}
}

func child(v any, part string) (any, bool) {
	switch v := v.(type) {
	case map[string]any:
		c, ok := v[part]
		return c, ok
	case []any:
		if i, err := strconv.Atoi(part); err == nil && i < len(v) {
			return v[i], true
		}
		for _, item := range v {
			m, _ := item.(map[string]any) // other items have no members
			for _, key := range []string{"consumer", "code", "field", "name", "stream", "cell"} {
				if m[key] == part {
					return item, true
				}
			}
		}
	}
	return nil, false
}

// same wants two reports to say the same, but for when the snapshots were taken
// and the names of files.
func same(ts *testscript.TestScript, _ bool, args []string) {
	var reports [2]string
	for i := range reports {
		r, ok := readJSON(ts, args[i]).(map[string]any)
		if !ok || r["summary"] == nil {
			ts.Fatalf("%s is no report", args[i])
		}
		summary, _ := r["summary"].(map[string]any)
		delete(summary, "taken_at")
		text, err := json.MarshalIndent(r, "", " ")
		ts.Check(err)
		reports[i] = fmt.Sprintf("%s\n", text)
	}
	if diff := cmp.Diff(reports[0], reports[1]); diff != "" {
		ts.Fatalf("%s and %s differ:\n%s", args[0], args[1], diff)
	}
}
