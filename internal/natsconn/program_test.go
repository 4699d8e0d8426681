package natsconn

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
)

func TestProgramsNeedLeave(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, text := range []string{
		`{"creds": "op://vault/item/creds"}`,
		`{"nkey": "nsc://op/acc/user"}`,
		`{"user": "u", "password": "OP://vault/item/pw"}`,
		`{"token": "op://vault/item/token"}`,
		`{"nsc": "nsc://op/acc/user"}`,
	} {
		path := w.context("c", text)
		targets, err := w.resolve(Config{Contexts: []string{path}})
		if !errors.Is(err, ErrProgramNotAllowed) || !strings.Contains(err.Error(), "--allow-programs") || targets != nil {
			t.Errorf("%s gave %v, %v, want ErrProgramNotAllowed", text, targets, err)
		}
		w.one(Config{Contexts: []string{path}, AllowPrograms: true})
	}
	// What is not used is not asked for.
	w.context("d", `{"url": "h:1", "user": "u", "password": "p", "creds": "op://x/y/z", "nsc": "nsc://a/b/c"}`)
	w.one(Config{Contexts: []string{"d"}})
}

func TestPrograms(t *testing.T) {
	t.Parallel()
	broker := startBroker(t, server.Options{Authorization: "tok"})
	pair, seed, public := newUser(t)
	defer pair.Wipe()
	keyed := startBroker(t, server.Options{Nkeys: []*server.NkeyUser{{Nkey: public}}})
	w := newWorld(t)
	var calls [][]string
	nk := w.file("user.nk", seed)
	run := func(_ context.Context, program string, args ...string) ([]byte, error) {
		calls = append(calls, append([]string{program}, args...))
		if program == "op" {
			return []byte("tok\n"), nil
		}
		return fmt.Appendf(nil, `{"user_creds": %q, "operator": {"service": ["nats://x:1"]}}`, nk), nil
	}
	for _, c := range []Config{
		{Servers: broker.ClientURL(), Token: "OP://vault/item/token"},
		{Servers: keyed.ClientURL(), NKey: "NSC://op/acc/user"},
	} {
		c.AllowPrograms, c.Env = true, w.env()
		c.Env.Run = run
		targets, err := Resolve(c)
		if err != nil || len(calls) != 0 {
			t.Fatalf("Resolve ran %v, gave %v", calls, err)
		}
		conn, err := targets[0].Connect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		conn.Close()
		want := []string{"op", "read", "op://vault/item/token"}
		if c.NKey != "" {
			want = []string{"nsc", "generate", "profile", "nsc://op/acc/user"}
		}
		if len(calls) != 1 || !slices.Equal(calls[0], want) {
			t.Errorf("it ran %v, want %v", calls, want)
		}
		calls = nil
	}
	r := resolver{allowPrograms: true}
	r.env.Run = func(context.Context, string, ...string) ([]byte, error) { return []byte(`{}`), nil }
	if _, err := r.bytes(t.Context(), "nkey", "nsc://a/b/c"); err == nil || !strings.Contains(err.Error(), "no user_creds") {
		t.Errorf("a profile without credentials gave %v", err)
	}
	r.allowPrograms = false
	if _, err := r.bytes(t.Context(), "nkey", "nsc://a/b/c"); !errors.Is(err, ErrProgramNotAllowed) {
		t.Errorf("a program without leave gave %v, want ErrProgramNotAllowed", err)
	}
}

func TestNSCLookup(t *testing.T) {
	t.Parallel()
	op := newOperator(t)
	broker := startBroker(t, op.options())
	w := newWorld(t)
	token, seed := op.user(false)
	creds := w.file("nsc.creds", "-----BEGIN NATS USER JWT-----\n"+token+"\n------END NATS USER JWT------\n\n"+
		"-----BEGIN USER NKEY SEED-----\n"+seed+"\n------END USER NKEY SEED------\n")
	w.context("c", `{"nsc": "op/acc/user"}`)
	env := w.env()
	profile := fmt.Sprintf(`{"user_creds": %q, "operator": {"service": [%q]}}`, creds, broker.ClientURL())
	env.Run = func(context.Context, string, ...string) ([]byte, error) { return []byte(profile), nil }
	targets, err := Resolve(Config{Contexts: []string{"c"}, AllowPrograms: true, Env: env})
	if err != nil {
		t.Fatal(err)
	}
	if targets[0].Auth != "creds" || targets[0].Servers != nil {
		t.Errorf("the target has %s and servers %v, want creds, and no servers yet", targets[0].Auth, targets[0].Servers)
	}
	conn, err := targets[0].Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
	for _, profile = range []string{"no JSON", `{}`} {
		if _, err := targets[0].Connect(t.Context()); err == nil {
			t.Errorf("the profile %q connected", profile)
		}
	}
}

func TestRunProgram(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out, err := runProgram(t.Context(), self, "-test.list", "^TestRunProgram$")
	if err != nil || !strings.HasPrefix(string(out), "TestRunProgram\n") {
		t.Errorf("the program said %q, %v", out, err)
	}
	r := resolver{allowPrograms: true}
	for _, test := range []struct {
		program string
		args    []string
		want    string
	}{
		{filepath.Join(t.TempDir(), "none"), nil, "it could not be run"},
		{self, []string{"-CANARY"}, "exit status 2"},
		{"no-such-program-anywhere", nil, exec.ErrNotFound.Error()},
	} {
		_, err := r.run(t.Context(), "creds", test.program, test.args...)
		if err == nil || !strings.HasSuffix(err.Error(), ": "+test.want) || strings.Contains(err.Error(), canary) {
			t.Errorf("running %s gave %v, want %s", test.program, err, test.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.run(ctx, "creds", self, "-test.list", "x"); !errors.Is(err, context.Canceled) {
		t.Errorf("a canceled context gave %v", err)
	}
}
