package strictyaml_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/natsmig/natsmig/internal/strictyaml"
)

// settings is what the tests read.
type settings struct {
	Name    string
	Count   int
	Wait    time.Duration
	Ladder  []time.Duration
	Labels  map[string]string
	Mode    string
	Subject string
}

func read(t *testing.T, text string) (settings, error) {
	t.Helper()
	docs, err := strictyaml.Parse("f.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var s settings
	errs := &strictyaml.Errors{File: "f.yaml"}
	o := errs.Object(docs[0], "")
	o.Text("name", &s.Name)
	o.Int("count", &s.Count)
	o.Duration("wait", &s.Wait)
	o.Durations("ladder", &s.Ladder)
	o.Texts("labels", &s.Labels)
	o.OneOf("mode", &s.Mode, []string{"fast", "safe"})
	inner := o.Object("inner")
	inner.Text("subject", &s.Subject)
	inner.Done()
	o.Done("max_deliver")
	return s, errs.Err()
}

func TestObject(t *testing.T) {
	got, err := read(t, `
name: 010
count: 0x10
wait: 1500000000
ladder: [1s, 2000000000]
labels: {a: yes, b: 1.0, c: null}
mode: safe
inner: {subject: x.>}
`)
	if err != nil {
		t.Fatal(err)
	}
	want := settings{
		Name: "010", Count: 16, Wait: 1500 * time.Millisecond, Ladder: []time.Duration{time.Second, 2 * time.Second},
		Labels: map[string]string{"a": "yes", "b": "1.0", "c": ""}, Mode: "safe", Subject: "x.>",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got, err = read(t, "name: null\ncount: ~\nwait:\nladder:\ninner:\n"); err != nil || !cmp.Equal(got, settings{}) {
		t.Errorf("nulls: %+v, %v: want nothing set", got, err)
	}
}

func TestObjectTellsEveryMistake(t *testing.T) {
	_, err := read(t, `name: [x]
count: 1.5
wait: 30
ladder: 5s
labels: {a: {}}
mode: sage
inner: text
max_delivery: 3
Count: 1
`)
	want := `f.yaml:1:7: name: want text, have a list
f.yaml:2:8: count: want a whole number, have a number ("1.5")
f.yaml:4:9: ladder: want a list of durations, have text ("5s")
f.yaml:5:13: labels.a: want text, have a mapping
f.yaml:6:7: mode: "sage" is not one of [fast safe]; did you mean "safe"?
f.yaml:7:8: inner: want a mapping, have text ("text")
f.yaml:8:1: unknown key "max_delivery"; did you mean "max_deliver"?
f.yaml:9:1: unknown key "Count"; did you mean "count"?`
	if err == nil {
		t.Fatal("no error")
	}
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	_, err = read(t, "wait: 5 minutes\nladder: [1s, x, [2s]]\ncount: 99999999999999999999\n")
	want = `f.yaml:1:7: wait: want a duration such as 30s or 1h30m, or nanoseconds, have text ("5 minutes")
f.yaml:2:14: ladder[1]: want a duration such as 30s or 1h30m, or nanoseconds, have text ("x")
f.yaml:2:17: ladder[2]: want a duration such as 30s or 1h30m, or nanoseconds, have a list
f.yaml:3:8: count: want a whole number, have a number ("99999999999999999999")`
	if err == nil {
		t.Fatal("no error")
	}
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
