package natsconn

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
)

// leaky is a config with the canary in every field that may hold a secret.
func leaky(servers string) Config {
	return Config{
		Servers: servers, User: "u", Password: canary, Token: canary, Creds: canary, NKey: canary,
		UserJWT: canary, UserSeed: canary, SocksProxy: "socks5://u:" + canary + "@h:1",
	}
}

func TestNothingPrintsSecrets(t *testing.T) {
	t.Parallel()
	broker := startBroker(t, server.Options{})
	w := newWorld(t)
	c := leaky("nats://u:" + canary + "@h:1,nats://" + canary + "@h:2")
	target := w.one(c)
	conn := w.mustConnect(Config{Servers: "nats://u:" + canary + "@" + broker.Addr().String(), Token: canary})
	for _, v := range []any{
		c, &c,
		struct{ C Config }{c},
		Secret(canary),
		[]Secret{canary},
		target, &target,
		[]Target{target},
		struct{ T Target }{target},
		struct{ t Target }{target},
		conn, *conn,
		struct{ c *Conn }{conn},
		struct{ c Conn }{*conn},
	} {
		text := fmt.Sprintf("%v %+v %#v %s %q", v, v, v, v, v)
		raw, err := json.Marshal(v)
		if err != nil {
			t.Errorf("%T: %v", v, err)
		}
		var log strings.Builder
		slog.New(slog.NewTextHandler(&log, nil)).Info("x", "v", v)
		slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "v", v)
		for _, where := range []string{text, string(raw), log.String()} {
			if strings.Contains(where, canary) {
				t.Errorf("%T prints the canary: %s", v, where)
			}
		}
	}
	if got := Secret("").String() + Secret("x").String(); got != redacted {
		t.Errorf("an empty and a full secret print as %q", got)
	}
}

func TestNoErrorShowsSecrets(t *testing.T) {
	t.Parallel()
	broker := startBroker(t, server.Options{Username: "u", Password: "other"})
	tlsFile := newWorld(t).file("x.pem", canary)
	echo := echoing(t)
	away := closedPort(t)
	with := func(change func(*Config)) Config {
		c := Config{Servers: broker.ClientURL()}
		change(&c)
		return c
	}
	for name, c := range map[string]Config{
		"server":           {Servers: "nats://u:" + canary + "/@h:1"},
		"server port":      {Servers: "nats://h:" + canary},
		"server away":      {Servers: "nats://u:" + canary + "@" + away},
		"server refuses":   {Servers: "nats://u:" + canary + "@" + broker.Addr().String()},
		"server echoes":    {Servers: "nats://u:" + canary + "@" + echo},
		"token in server":  {Servers: "nats://" + canary + "@" + echo},
		"echo of password": {Servers: echo, User: "u", Password: canary},
		"echo of token":    {Servers: echo, Token: canary},
		"echo of user":     {Servers: echo, User: canary},
		"everything":       leaky(echo),
		"proxy":            {SocksProxy: "socks5://u:" + canary + "@h:x"},
		"proxy away":       with(func(c *Config) { c.SocksProxy = "socks5://u:" + canary + "@" + away }),
		"proxy's scheme":   {SocksProxy: canary + "://h"},
		"user":             with(func(c *Config) { c.User = canary }),
		"password":         with(func(c *Config) { c.User, c.Password = "u", canary }),
		"token":            with(func(c *Config) { c.Token = canary }),
		"token data":       with(func(c *Config) { c.Token = "data:;base64," + canary + "!" }),
		"token not data":   with(func(c *Config) { c.Token = "data:" + canary }),
		"creds":            with(func(c *Config) { c.Creds = canary }),
		"creds scheme":     with(func(c *Config) { c.Creds = canary + "://x" }),
		"creds text":       with(func(c *Config) { c.Creds = "-----BEGIN NATS USER JWT-----\neyJ." + canary }),
		"creds JWT":        with(func(c *Config) { c.Creds = "eyJ." + canary + "/" }),
		"creds data":       with(func(c *Config) { c.Creds = Secret(inlined(canary)) }),
		"nkey":             with(func(c *Config) { c.NKey = canary }),
		"nkey data":        with(func(c *Config) { c.NKey = Secret(inlined("SU" + canary)) }),
		"jwt":              with(func(c *Config) { c.UserJWT = canary }),
		"seed":             with(func(c *Config) { c.UserJWT, c.UserSeed = canary, canary }),
		"key":              with(func(c *Config) { c.TLSCert, c.TLSKey = tlsFile, tlsFile }),
		"key text":         with(func(c *Config) { c.TLSCert, c.TLSKey = tlsFile, "-----BEGIN "+canary }),
		"ca":               with(func(c *Config) { c.TLSCA = tlsFile }),
	} {
		targets, err := newWorld(t).resolve(c)
		if err == nil {
			_, err = targets[0].Connect(t.Context())
		}
		silent(t, name, err)
	}
}

func TestNoContextErrorShowsSecrets(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, text := range []string{
		`{"password": "CANARY"",}`, `{"password": CANARY}`, `{"token": "CANARY" "x"}`, `{"token": "\CANARY"}`,
		`{"password": {"CANARY": 1}}`, `{"tls_first": "CANARY"}`, `{"CANARY": }`, `CANARY`, `"CANARY"`,
		`{"url": "nats://u:CANARY:x@h:y"}`, `{"url": "CANARY:x"}`, `{"creds": "CANARY:x"}`,
		`{"ca": "CANARY:x"}`, `{"windows_cert_store": "CANARY"}`, `{"nsc": "CANARY"}`,
		`{"user": "u", "password": "data:CANARY"}`, `{"user_jwt": "x", "user_seed": "data:CANARY"}`,
	} {
		_, err := w.resolve(Config{Contexts: []string{w.context("c", text)}})
		silent(t, text, err)
	}
}

// silent checks that there is an error and that nothing in its chain shows the
// canary.
func silent(t *testing.T, name string, err error) {
	t.Helper()
	if err == nil {
		t.Errorf("%s: there is no error to look at", name)
		return
	}
	for _, text := range []string{fmt.Sprintf("%v %+v %#v", err, err, err), everyText(err)} {
		if strings.Contains(text, canary) {
			t.Errorf("%s: the error shows the canary: %s", name, text)
		}
	}
}

// everyText gives the texts of an error and of everything in it.
func everyText(err error) string {
	if err == nil {
		return ""
	}
	text := err.Error()
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, err := range joined.Unwrap() {
			text += everyText(err)
		}
		return text
	}
	return text + everyText(errors.Unwrap(err))
}

// echoing is a server that answers a CONNECT by saying back what it got.
func echoing(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Write([]byte("INFO {\"nonce\":\"n\"}\r\n"))
			line, _ := bufio.NewReader(conn).ReadString('\n')
			_, _ = fmt.Fprintf(conn, "-ERR 'not %s'\r\n", strings.TrimSpace(line))
			conn.Close()
		}
	}()
	return l.Addr().String()
}
