package natsconn

import (
	"errors"
	"os"
	"strings"
	"testing"
)

func TestContextFileMistakes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ reason, text, want string }{
		{"doubled comma", "{\n \"url\": \"x\",,\n}", `f:2:13: invalid character ',' looking for beginning of object key string`},
		{"doubled quote", `{"password": "example"", "user": ""}`, `f:1:23: invalid character '"' after object key:value pair`},
		{"a letter may start a password", `{"password": example}`, `f:1:14: invalid character looking for beginning of value`},
		{"column counts characters", `{"description": "äö",,}`, `f:1:22: invalid character ',' looking for beginning of object key string`},
		{"cut off", `{"url": "x"`, `f:1:11: unexpected end of JSON input`},
		{"empty", ``, `f:1:1: unexpected end of JSON input`},
		{"not an object", ` ["x"]`, `f:1:2: a context is a JSON object`},
		{"text", `"x"`, `f:1:3: a context is a JSON object`},
		{
			"every wrong type", "{\"password\": 4711,\n\"url\": [\"x\"], \"tls_first\": \"yes\"}",
			"f:1:14: password is a string, not a number\n" +
				"f:2:8: url is a string, not a list\n" +
				"f:2:28: tls_first is true or false, not a string",
		},
	} {
		_, err := parseSettings("f", []byte(test.text))
		if err == nil || err.Error() != test.want {
			t.Errorf("%s: error\n%v\nwant\n%s", test.reason, err, test.want)
		}
	}
}

func TestContextFileKeys(t *testing.T) {
	t.Parallel()
	s, err := parseSettings("f", []byte(`{
		"description": "d", "url": "first", "URL": "last", "socks_proxy": "sp", "token": "t",
		"user": "u", "password": "p", "creds": "c", "nkey": "n", "cert": "ce", "key": "k",
		"ca": "ca", "nsc": "nsc", "jetstream_domain": "jd", "jetstream_api_prefix": "jp",
		"jetstream_event_prefix": "je", "inbox_prefix": "ip", "user_jwt": "uj",
		"user_seed": "us", "color_scheme": null, "tls_first": true,
		"windows_cert_store": "user", "windows_cert_match_by": "subject",
		"windows_cert_match": "x", "windows_ca_certs_match": ["x"],
		"from_the_future": {"a": [1, 2]}, "name": "other"
	}`))
	want := settings{
		description: "d", url: "last", socksProxy: "sp", token: "t", user: "u", password: "p",
		creds: "c", nkey: "n", cert: "ce", key: "k", ca: "ca", nsc: "nsc", jsDomain: "jd",
		jsAPIPrefix: "jp", jsEventPrefix: "je", inboxPrefix: "ip", userJWT: "uj", userSeed: "us",
		tlsFirst: true, winCertStore: "user",
	}
	if err != nil || s != want {
		t.Errorf("parseSettings gave %+v, %v, want %+v", s, err, want)
	}
	if s, err := parseSettings("f", []byte("null")); err != nil || s != (settings{}) {
		t.Errorf("parseSettings of null gave %+v, %v, want nothing", s, err)
	}
}

func TestPositionStaysInside(t *testing.T) {
	t.Parallel()
	for _, offset := range []int{1, 2, 99} {
		if line, col := lineCol([]byte("ab"), offset); line != 1 || col != 2 {
			t.Errorf("offset %d of two bytes is at %d:%d, want 1:2", offset, line, col)
		}
	}
}

func TestCaseF01(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	targets, err := w.resolve(Config{Contexts: []string{"testdata/ctx-bad.json", "testdata/ctx-good.json"}})
	var pos *PosError
	var cell *CellError
	if !errors.As(err, &pos) || !errors.As(err, &cell) {
		t.Fatalf("Resolve gave error %v, want a CellError with a PosError", err)
	}
	if pos.File != "testdata/ctx-bad.json" || pos.Line != 3 || pos.Col != 34 || cell.Cell != "ctx-bad" {
		t.Errorf("the mistake is in cell %q at %s:%d:%d, want ctx-bad at 3:34", cell.Cell, pos.File, pos.Line, pos.Col)
	}
	if !strings.HasPrefix(err.Error(), "testdata/ctx-bad.json:3:34: invalid character ','") {
		t.Errorf("the error is %q", err)
	}
	if strings.Contains(err.Error(), "example-only") {
		t.Errorf("the error shows the password: %v", err)
	}
	if len(targets) != 1 || targets[0].Name != "ctx-good" {
		t.Fatalf("Resolve gave %v, want the other context", targets)
	}
	good := targets[0]
	if len(good.Servers) != 2 || good.APIPrefix != "$JS.hub.API" || good.InboxPrefix != "_INBOX_svc" {
		t.Errorf("ctx-good is %v with API prefix %s and inbox prefix %s", good, good.APIPrefix, good.InboxPrefix)
	}
	if want := w.env().Home + "/.nsc/edge.creds"; good.dial().settings.creds != want {
		t.Errorf("creds are %s, want %s", good.dial().settings.creds, want)
	}
}

const canary = "CANARY"

func FuzzContextFile(f *testing.F) {
	for _, name := range []string{"testdata/ctx-bad.json", "testdata/ctx-good.json"} {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	for _, text := range []string{"", "{", "[1]", "null", `{"password": CANARY}`, `{"password": "CANARY"",}`, `{"url": {"CANARY": 1}}`, "{\"user\"\n:\n1}", "\xff{", `{"token": "\q"}`, `{"user": 1, "password": 2, "token": 3}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		_, err := parseSettings("f", data)
		if err == nil {
			return
		}
		if strings.Contains(err.Error(), canary) {
			t.Errorf("the error shows what is in the file: %v", err)
		}
		for _, pos := range positions(err) {
			lines := strings.Split(string(data), "\n")
			if pos.Line < 1 || pos.Line > len(lines) || pos.Col < 1 || pos.Col > max(1, len([]rune(lines[pos.Line-1]))+1) {
				t.Errorf("%v is outside of the file", pos)
			}
		}
		if len(positions(err)) == 0 {
			t.Errorf("%v has no position", err)
		}
	})
}

// positions gives every PosError that is joined in err.
func positions(err error) []*PosError {
	if pos, ok := err.(*PosError); ok { //nolint:errorlint // errors.As finds the first one of a join and hides the others
		return []*PosError{pos}
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return nil
	}
	var list []*PosError
	for _, err := range joined.Unwrap() {
		list = append(list, positions(err)...)
	}
	return list
}
