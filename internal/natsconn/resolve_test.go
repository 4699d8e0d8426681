package natsconn

import (
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestPrecedence(t *testing.T) {
	t.Parallel()
	type vars = map[string]string
	context := `{"url": "nats://ctx:1", "user": "cu", "password": "cp"}`
	for _, test := range []struct {
		reason  string
		context string
		env     vars
		config  Config
		want    settings
	}{
		{"nothing at all", "", nil, Config{}, settings{}},
		{"the selected context", context, nil, Config{}, settings{url: "nats://ctx:1", user: "cu", password: "cp"}},
		{"environment over context", context, vars{"NATS_URL": "env:1"}, Config{}, settings{url: "env:1", user: "cu", password: "cp"}},
		{"a server keeps the context's credentials", context, vars{"NATS_URL": "env:1"}, Config{Servers: "flag:1"}, settings{url: "flag:1", user: "cu", password: "cp"}},
		{"no context", context, vars{"NATS_URL": "env:1"}, Config{NoContext: true}, settings{url: "env:1"}},
		{"a user alone is a token", context, nil, Config{User: "tok"}, settings{url: "nats://ctx:1", user: "cu", password: "cp", token: "tok"}},
		{"a user alone is a token, over a token", "", nil, Config{User: "tok", Token: "other"}, settings{token: "tok"}},
		{"user and password", context, vars{"NATS_USER": "eu", "NATS_PASSWORD": "ep"}, Config{Password: "fp"}, settings{url: "nats://ctx:1", user: "eu", password: "fp"}},
		{"a password alone", context, nil, Config{Password: "fp"}, settings{url: "nats://ctx:1", user: "cu", password: "fp"}},
		{
			"all variables", "",
			vars{
				"NATS_URL": "u", "NATS_TOKEN": "t", "NATS_CREDS": "c", "NATS_NKEY": "n",
				"NATS_JWT": "j", "NATS_SEED": "s", "NATS_CERT": "ce", "NATS_KEY": "k", "NATS_CA": "ca",
				"NATS_SOCKS_PROXY": "socks5://p",
			},
			Config{},
			settings{url: "u", token: "t", creds: "c", nkey: "n", userJWT: "j", userSeed: "s", cert: "ce", key: "k", ca: "ca", socksProxy: "socks5://p"},
		},
		{
			"all flags", `{"url": "x", "token": "x", "creds": "x", "nkey": "x", "user_jwt": "x", "user_seed": "x",
				"cert": "x", "key": "x", "ca": "x", "socks_proxy": "x", "jetstream_domain": "x",
				"jetstream_event_prefix": "x", "inbox_prefix": "x"}`,
			vars{"NATS_URL": "e", "NATS_TOKEN": "e", "NATS_CREDS": "e", "NATS_NKEY": "e", "NATS_CA": "e", "NATS_JS_DOMAIN": "e"},
			Config{
				Servers: "u", Token: "t", Creds: "c", NKey: "n", UserJWT: "j", UserSeed: "s", TLSCert: "ce", TLSKey: "k",
				TLSCA: "ca", TLSFirst: true, SocksProxy: "socks5://p", JSDomain: "d", JSEventPrefix: "e", InboxPrefix: "i",
			},
			settings{
				url: "u", token: "t", creds: "c", nkey: "n", userJWT: "j", userSeed: "s", cert: "ce", key: "k",
				ca: "ca", tlsFirst: true, socksProxy: "socks5://p", jsDomain: "d", jsEventPrefix: "e", inboxPrefix: "i",
			},
		},
		{"no domain from the environment", "", vars{"NATS_JS_DOMAIN": "e"}, Config{}, settings{}},
		{"proxy taken away", `{"socks_proxy": "socks5://p"}`, nil, Config{SocksProxy: "none"}, settings{}},
		{"tls first stays", `{"tls_first": true}`, nil, Config{}, settings{tlsFirst: true}},
		{"API prefix", `{"jetstream_api_prefix": "c"}`, nil, Config{JSAPIPrefix: "f"}, settings{jsAPIPrefix: "f"}},
		{"variables in paths", `{"creds": "$D/c", "ca": "${D}/ca", "token": "$D"}`, vars{"D": "/d"}, Config{}, settings{creds: "/d/c", ca: "/d/ca", token: "$D"}},
	} {
		w := newWorld(t)
		maps.Copy(w.vars, test.env)
		if test.context != "" {
			w.context("c", test.context)
			w.selectContext("c")
		}
		if got := w.one(test.config).dial().settings; got != test.want {
			t.Errorf("%s: got %+v, want %+v", test.reason, got, test.want)
		}
	}
}

func TestContextsFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.context("a", `{"url": "a:1"}`), w.context("b", `{"url": "b:1"}`)
	w.selectContext("b")
	c := w.file("home/else/where/c.json", `{"url": "c:1"}`)
	for _, test := range []struct {
		reason, env string
		contexts    []string
		names       []string
		files       []string
	}{
		{"selected", "", nil, []string{"b"}, []string{b}},
		{"environment over selected", "a", nil, []string{"a"}, []string{a}},
		{"flag over environment", "b", []string{"a"}, []string{"a"}, []string{a}},
		{"several, in order", "", []string{"b", "a"}, []string{"b", "a"}, []string{b, a}},
		{"a path", "", []string{c}, []string{"c"}, []string{c}},
		{"a path from home", "", []string{"~/else/where/c.json", "a"}, []string{"c", "a"}, []string{c, a}},
	} {
		w.vars["NATS_CONTEXT"] = test.env
		targets, err := w.resolve(Config{Contexts: test.contexts})
		var names, files []string
		for _, target := range targets {
			names, files = append(names, target.Name), append(files, target.ContextFile)
		}
		if err != nil || !slices.Equal(names, test.names) || !slices.Equal(files, test.files) {
			t.Errorf("%s: got %v at %v, %v, want %v at %v", test.reason, names, files, err, test.names, test.files)
		}
	}
}

func TestContextsUnderHome(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	delete(w.vars, "XDG_CONFIG_HOME")
	path := w.file("home/.config/nats/context/h.json", `{}`)
	if got := w.one(Config{Contexts: []string{"h"}}); got.ContextFile != path {
		t.Errorf("the context is %s, want %s", got.ContextFile, path)
	}
}

func TestContextsNotFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.context("there", `{}`)
	w.context("dots..here", `{}`)
	w.file("plain", `{}`)
	for _, name := range []string{"nope", "../there", "dots..here", filepath.Join(w.dir, "plain"), filepath.Join(w.dir, "nope.json")} {
		if _, err := w.resolve(Config{Contexts: []string{name}}); !errors.Is(err, ErrUnknownContext) {
			t.Errorf("context %q gave %v, want ErrUnknownContext", name, err)
		}
	}
	w.selectContext("gone")
	targets, err := w.resolve(Config{})
	if !errors.Is(err, ErrUnknownContext) || len(targets) != 0 || !strings.Contains(err.Error(), `selected context "gone"`) {
		t.Errorf("a stale selection gave %v, %v, want ErrUnknownContext", targets, err)
	}
}

func TestEveryMistakeAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	bad := w.context("bad", "{,}")
	w.context("good", `{}`)
	w.context("worse", `{"url": "nats://u:p@h:x,h2:2,ws://h3", "user": "u", "password": "env://NOT_THERE",
		"token": "data:none", "jetstream_domain": "d", "jetstream_api_prefix": "p", "inbox_prefix": "a.*",
		"jetstream_event_prefix": ".", "ca": "env://X", "windows_cert_store": "user", "socks_proxy": "p:1"}`)
	targets, err := w.resolve(Config{Contexts: []string{"bad", "good", "nope", "worse", "good"}})
	if len(targets) != 1 || targets[0].Name != "good" {
		t.Errorf("the usable targets are %v, want good", targets)
	}
	want := []string{
		bad + `:1:2: invalid character ',' looking for beginning of object key string`,
		`look up context "nope": no such context: no file ` + filepath.Join(w.dir, "config/nats/context/nope.json"),
		`resolve cell "worse": server 1: it is not a URL such as nats://host:4222 (it is not shown, for it may hold a password)`,
		`resolve cell "worse": servers: websocket URLs (ws, wss) and others do not mix`,
		`resolve cell "worse": JetStream domain "d" and API prefix "p" exclude each other`,
		`resolve cell "worse": inbox prefix "a.*" is not a subject`,
		`resolve cell "worse": event prefix "." is not a subject`,
		`resolve cell "worse": windows_cert_store: natsmig does not read Windows certificate stores`,
		`resolve cell "worse": ca: only a file can be given here`,
		`resolve cell "worse": password: environment variable "NOT_THERE" is not set`,
		`resolve cell "worse": token: a data reference starts with "data:;base64,"`,
		`resolve cell "worse": SOCKS proxy: it is not a URL such as socks5://host:1080`,
		`resolve cell "good": it is named twice`,
	}
	if err == nil || err.Error() != strings.Join(want, "\n") {
		t.Errorf("the error is\n%v\nwant\n%s", err, strings.Join(want, "\n"))
	}
}

func TestOneServerForSeveralContexts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.context("a", `{}`)
	w.context("b", `{}`)
	w.vars["NATS_URL"] = "h:1"
	if targets, err := w.resolve(Config{Contexts: []string{"a", "b"}}); err == nil || targets != nil {
		t.Errorf("two contexts and NATS_URL gave %v, %v, want an error", targets, err)
	}
}

func TestTargetShows(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		config                   Config
		name, text, prefix, auth string
		ignored                  []string
	}{
		{Config{}, "127.0.0.1:4222", `cell "127.0.0.1:4222" at nats://127.0.0.1:4222`, "$JS.API", "none", nil},
		{Config{Servers: " , "}, "127.0.0.1:4222", `cell "127.0.0.1:4222" at nats://127.0.0.1:4222`, "$JS.API", "none", nil},
		{Config{Servers: "u:p@h, tls://t@[::1]:1"}, "h:4222", `cell "h:4222" at nats://h:4222, tls://[::1]:1`, "$JS.API", "none", nil},
		{Config{Servers: "ws://h:,wss://h"}, "h:80", `cell "h:80" at ws://h:80, wss://h:443`, "$JS.API", "none", nil},
		{Config{JSDomain: "hub", Token: "t"}, "127.0.0.1:4222", `cell "127.0.0.1:4222" at nats://127.0.0.1:4222`, "$JS.hub.API", "token", nil},
		{Config{JSAPIPrefix: "JS.acc.API."}, "127.0.0.1:4222", `cell "127.0.0.1:4222" at nats://127.0.0.1:4222`, "JS.acc.API", "none", nil},
		{
			Config{User: "u", Password: "p", Creds: "c", NKey: "n", UserJWT: "j", UserSeed: "s", TLSCert: "x"},
			"127.0.0.1:4222", `cell "127.0.0.1:4222" at nats://127.0.0.1:4222`, "$JS.API", "user",
			[]string{"creds", "nkey", "user_jwt", "user_seed", "cert"},
		},
		{Config{Creds: "c", NKey: "n", TLSKey: "x"}, "127.0.0.1:4222", `cell "127.0.0.1:4222" at nats://127.0.0.1:4222`, "$JS.API", "creds", []string{"nkey", "key"}},
		{Config{NKey: "n", UserJWT: "j"}, "127.0.0.1:4222", `cell "127.0.0.1:4222" at nats://127.0.0.1:4222`, "$JS.API", "nkey", []string{"user_jwt"}},
		{Config{Creds: "C:/a/drive.creds", Servers: ":1"}, ":1", `cell ":1" at nats://:1`, "$JS.API", "creds", nil},
		{Config{UserJWT: "j"}, "127.0.0.1:4222", `cell "127.0.0.1:4222" at nats://127.0.0.1:4222`, "$JS.API", "jwt", nil},
	} {
		got := newWorld(t).one(test.config)
		if got.Name != test.name || got.String() != test.text || got.APIPrefix != test.prefix || got.Auth != test.auth || !slices.Equal(got.Ignored, test.ignored) {
			t.Errorf("got %q, %q, %q, %q, %q, want %q, %q, %q, %q, %q", got.Name, got, got.APIPrefix, got.Auth, got.Ignored,
				test.name, test.text, test.prefix, test.auth, test.ignored)
		}
	}
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if got := w.one(Config{}).Timeout; got != DefaultTimeout {
		t.Errorf("the timeout is %v, want the default", got)
	}
	if got := w.one(Config{OtherTimeout: 2 * time.Second}).Timeout; got != 2*time.Second {
		t.Errorf("the timeout is %v, want the other default", got)
	}
	w.vars["NATS_TIMEOUT"] = "7s"
	if got := w.one(Config{OtherTimeout: 2 * time.Second}).Timeout; got != 7*time.Second {
		t.Errorf("the timeout is %v, want that of NATS_TIMEOUT", got)
	}
	if got := w.one(Config{Timeout: time.Second}).Timeout; got != time.Second {
		t.Errorf("the timeout is %v, want that of the flag", got)
	}
	w.vars["NATS_TIMEOUT"] = "soon"
	for _, c := range []Config{{}, {Timeout: -1}} {
		if _, err := w.resolve(c); err == nil {
			t.Errorf("timeout %v was taken", c.Timeout)
		}
	}
}

func TestWrongPrefixes(t *testing.T) {
	t.Parallel()
	for _, c := range []Config{
		{JSDomain: "a.b"},
		{JSDomain: "a>"},
		{JSAPIPrefix: "a..b"},
		{JSAPIPrefix: "."},
		{JSAPIPrefix: "a b"},
		{InboxPrefix: "a."},
		{InboxPrefix: ">"},
		{JSEventPrefix: "a.*"},
		{Creds: "vault://x"},
		{Creds: "data:;base64,***"},
		{NKey: "env://"},
		{NKey: "env://EMPTY"},
	} {
		w := newWorld(t)
		w.vars["EMPTY"] = ""
		if _, err := w.resolve(c); err == nil {
			t.Errorf("%v was taken", c)
		}
	}
}
