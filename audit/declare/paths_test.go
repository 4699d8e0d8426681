package declare_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/natsmig/natsmig/audit"
	"github.com/natsmig/natsmig/audit/declare"
)

// TestPathsOfNoText has files that no archive can hold.
func TestPathsOfNoText(t *testing.T) {
	t.Chdir(t.TempDir())
	write := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("binary.yaml", "\x7fELF\x02\x01\x01\x00")
	write("broken.yaml", "stream: S\ndurable_name: a\xffb\n")
	write("empty.yaml", "")
	write("blank.json", " \n\n")
	write("wide.yaml", "s\x00t\x00r\x00") // UTF-16
	write("good.yaml", "stream: S\ndurable_name: d\nack_policy: explicit\n")
	write("huge.yaml", "")
	if err := os.Truncate("huge.yaml", 50<<20); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir("void", 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := declare.Paths([]string{
		"binary.yaml", "broken.yaml", "empty.yaml", "blank.json", "wide.yaml", "good.yaml", "huge.yaml", "void", "missing.yaml", "good.yaml/x",
	})
	want := `binary.yaml: a binary file, not YAML or JSON
broken.yaml:2:16: not valid UTF-8
empty.yaml: the file is empty
blank.json: the file is empty
wide.yaml: a binary file, not YAML or JSON
huge.yaml: the file has 50 MB, declarations are read up to 16 MB
void: the folder has no .yaml, .yml or .json file
read declarations: stat missing.yaml: no such file or directory
read declarations: stat good.yaml/x: not a directory`
	if err == nil {
		t.Fatal("no error")
	}
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestPathsFollowsLinks reads a folder that is a link, as a mounted ConfigMap
// has it: each file once.
func TestPathsFollowsLinks(t *testing.T) {
	dir := t.TempDir()
	data := filepath.Join(dir, "mount", "..2026_01_01")
	if err := os.MkdirAll(data, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(data, "a.yaml"), []byte("stream: S\ndurable_name: d\nack_policy: explicit\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, l := range [][2]string{{"..2026_01_01", "mount/..data"}, {"..data/a.yaml", "mount/a.yaml"}, {"mount", "link"}} {
		if err := os.Symlink(l[0], filepath.Join(dir, l[1])); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{"mount", "link"} {
		set, err := declare.Paths([]string{filepath.Join(dir, path)})
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if len(set.Declarations) != 1 {
			t.Errorf("%s: %d declarations, want 1", path, len(set.Declarations))
		}
	}
}

func TestByteOrderMark(t *testing.T) {
	const mark = "\ufeff"
	for _, text := range []string{
		"stream: S\ndurable_name: d\nack_policy: explicit\n",
		`{"stream_name": "S", "config": {"durable_name": "d", "ack_policy": "explicit"}}`,
		"apiVersion: natsmig/v1\nkind: Consumers\nstream: S\nconsumers:\n- durable: d\n",
		`{"schema": "natsmig.snapshot.v1", "cells": [{"name": "c", "streams": [{"config": {"name": "S"}}]}]}`,
	} {
		plain, err := declare.Read("f", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		marked, err := declare.Read("f", []byte(mark+text))
		if err != nil {
			t.Errorf("with a byte order mark: %v", err)
			continue
		}
		if diff := cmp.Diff(plain, marked); diff != "" {
			t.Errorf("a byte order mark makes a difference (-without +with):\n%s", diff)
		}
	}
	if _, err := audit.ReadSnapshot("f", []byte(mark+`{"cells": []}`)); err != nil {
		t.Errorf("ReadSnapshot: %v", err)
	}
	if _, err := audit.ReadBaseline("f", []byte(mark+`{"schema": "natsmig.baseline.v1", "findings": []}`)); err != nil {
		t.Errorf("ReadBaseline: %v", err)
	}
}

// TestTerraformArguments reads what the provider would send: its own defaults
// for arguments without a value, and zeros where they are written.
func TestTerraformArguments(t *testing.T) {
	read := func(values string) *audit.Declaration {
		t.Helper()
		set, err := declare.Read("show.json", []byte(`{"format_version": "1.0", "values": {"root_module": {"resources": [
			{"type": "jetstream_consumer", "values": {"stream_id": "JETSTREAM_STREAM_S", "durable_name": "d"`+values+`}}]}}}`))
		if err != nil {
			t.Fatal(err)
		}
		return set.Declarations[0]
	}
	type config struct {
		Sampling       string
		AckPending     int
		Notes, Batches int
	}
	for _, tc := range []struct {
		values string
		want   config
	}{
		{``, config{"", 20000, 4, 0}},
		{`, "sample_freq": 50, "max_batch": 10`, config{"50%", 20000, 4, 10}},
		{`, "sample_freq": 0, "max_ack_pending": 0`, config{"", 0, 3, 0}},
		{`, "max_ack_pending": null`, config{"", 20000, 4, 0}},
	} {
		d := read(tc.values)
		got := config{d.Request.Config.SampleFrequency, d.Request.Config.MaxAckPending, len(d.Notes), d.Request.Config.MaxBatch}
		if got != tc.want {
			t.Errorf("%s: %+v, want %+v", tc.values, got, tc.want)
		}
		if strings.Contains(tc.values, "sample_freq\": 50") && d.At["sample_freq"].Line != 2 {
			t.Errorf("sample_freq stands at %v, want line 2", d.At["sample_freq"])
		}
	}
}
