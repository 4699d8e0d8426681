package natsconn

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"
)

func TestUserAndPassword(t *testing.T) {
	t.Parallel()
	broker := startBroker(t, server.Options{Username: "bob", Password: "secret"})
	w := newWorld(t)
	w.vars["PW"] = "secret"
	w.context("ok", fmt.Sprintf(`{"url": %q, "user": "bob", "password": "env://PW"}`, broker.ClientURL()))
	atURL := "nats://bob:secret@" + broker.Addr().String()
	for _, c := range []Config{
		{Servers: broker.ClientURL(), User: "bob", Password: "secret"},
		{Servers: broker.ClientURL(), User: "bob", Password: "data:;base64,c2VjcmV0"},
		{Servers: broker.ClientURL(), User: "bob", Password: Secret("file://" + w.file("pw", "secret\r\n"))},
		{Contexts: []string{"ok"}},
		{Servers: atURL},
		// As in the nats tool the context's user wins over other credentials.
		{Contexts: []string{"ok"}, Creds: "/does/not/exist.creds"},
	} {
		conn := w.mustConnect(c)
		if err := conn.NATS().Flush(); err != nil {
			t.Errorf("%v: flush: %v", c, err)
		}
	}
	refused(t, w, Config{Servers: broker.ClientURL(), User: "bob", Password: "wrong"})
	refused(t, w, Config{Servers: broker.ClientURL()})
}

func TestToken(t *testing.T) {
	t.Parallel()
	broker := startBroker(t, server.Options{Authorization: "tok"})
	w := newWorld(t)
	w.vars["TOK"] = "tok"
	for _, c := range []Config{
		{Servers: broker.ClientURL(), Token: "tok"},
		{Servers: broker.ClientURL(), User: "tok"},
		{Servers: broker.ClientURL(), Token: "env://TOK"},
		{Servers: "nats://tok@" + broker.Addr().String()},
	} {
		w.mustConnect(c)
	}
	refused(t, w, Config{Servers: broker.ClientURL(), Token: "other"})
}

func TestNKey(t *testing.T) {
	t.Parallel()
	pair, seed, public := newUser(t)
	defer pair.Wipe()
	broker := startBroker(t, server.Options{Nkeys: []*server.NkeyUser{{Nkey: public}}})
	w := newWorld(t)
	w.vars["SEED"] = seed
	path := w.file("home/user.nk", seed+"\n")
	for _, nkey := range []string{path, "~/user.nk", "file://" + path, "env://SEED", inlined(seed)} {
		w.mustConnect(Config{Servers: broker.ClientURL(), NKey: Secret(nkey)})
	}
	_, other, _ := newUser(t)
	refused(t, w, Config{Servers: broker.ClientURL(), NKey: Secret(inlined(other))})

	account, err := nkeys.CreateAccount()
	if err != nil {
		t.Fatal(err)
	}
	wrong, err := account.Seed()
	if err != nil {
		t.Fatal(err)
	}
	for _, nkey := range []string{seed, inlined(string(wrong)), inlined("no seed")} {
		_, err := w.connect(Config{Servers: broker.ClientURL(), NKey: Secret(nkey)})
		var late *ConnectError
		if err == nil || errors.As(err, &late) || strings.Contains(err.Error(), nkey) {
			t.Errorf("a wrong nkey gave %v, want an error before connecting that does not show it", err)
		}
	}
}

func TestNKeyWithoutAuthorization(t *testing.T) {
	t.Parallel()
	_, seed, _ := newUser(t)
	broker := startBroker(t, server.Options{})
	refused(t, newWorld(t), Config{Servers: broker.ClientURL(), NKey: Secret(inlined(seed))})
}

func TestCreds(t *testing.T) {
	t.Parallel()
	op := newOperator(t)
	broker := startBroker(t, op.options())
	w := newWorld(t)
	token, seed := op.user(false)
	creds, err := jwt.FormatUserConfig(token, []byte(seed))
	if err != nil {
		t.Fatal(err)
	}
	w.vars["CREDS"], w.vars["DIR"] = string(creds), w.dir
	path := w.file("user.creds", string(creds))
	w.context("c", fmt.Sprintf(`{"url": %q, "creds": "$DIR/user.creds"}`, broker.ClientURL()))
	bearer, _ := op.user(true)
	for _, c := range []Config{
		{Servers: broker.ClientURL(), Creds: Secret(path)},
		{Servers: broker.ClientURL(), Creds: "env://CREDS"},
		{Servers: broker.ClientURL(), Creds: Secret(inlined(string(creds)))},
		{Contexts: []string{"c"}},
		{Servers: broker.ClientURL(), UserJWT: Secret(token), UserSeed: Secret(seed)},
		{Servers: broker.ClientURL(), UserJWT: Secret(bearer)},
	} {
		w.mustConnect(c)
	}
	_, otherSeed, _ := newUser(t)
	refused(t, w, Config{Servers: broker.ClientURL(), UserJWT: Secret(token), UserSeed: Secret(otherSeed)})
	for _, c := range []Config{
		{Creds: "/does/not/exist.creds"},
		{Creds: Secret(inlined("nothing"))},
		{Creds: Secret(inlined("-----BEGIN NATS USER JWT-----\n" + token + "\n------END NATS USER JWT------\n"))},
		{UserJWT: Secret(token), UserSeed: "nothing"},
		{UserJWT: "file:///does/not/exist"},
	} {
		c.Servers = broker.ClientURL()
		if _, err := w.connect(c); err == nil || errors.Is(err, ErrRefused) {
			t.Errorf("%v gave %v, want an error before connecting", c, err)
		}
	}
}

// refused checks that the broker refuses the config.
func refused(t *testing.T, w *world, c Config) {
	t.Helper()
	_, err := w.connect(c)
	var refusal *ConnectError
	if !errors.Is(err, ErrRefused) || !errors.As(err, &refusal) || refusal.Cell == "" {
		t.Errorf("%v gave %v, want ErrRefused", c, err)
	}
}

func inlined(text string) string {
	return "data:;base64," + base64.StdEncoding.EncodeToString([]byte(text))
}

func newUser(t *testing.T) (pair nkeys.KeyPair, seed, public string) {
	t.Helper()
	pair, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := pair.Seed()
	if err != nil {
		t.Fatal(err)
	}
	if public, err = pair.PublicKey(); err != nil {
		t.Fatal(err)
	}
	return pair, string(raw), public
}

// operator is an operator with one account.
type operator struct {
	t                *testing.T
	operator, acc    nkeys.KeyPair
	claims           *jwt.OperatorClaims
	accPublic, accID string
}

func newOperator(t *testing.T) *operator {
	t.Helper()
	o := &operator{t: t}
	var err error
	if o.operator, err = nkeys.CreateOperator(); err != nil {
		t.Fatal(err)
	}
	if o.acc, err = nkeys.CreateAccount(); err != nil {
		t.Fatal(err)
	}
	public, err := o.operator.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	if o.accPublic, err = o.acc.PublicKey(); err != nil {
		t.Fatal(err)
	}
	encoded, err := jwt.NewOperatorClaims(public).Encode(o.operator)
	if err != nil {
		t.Fatal(err)
	}
	if o.claims, err = jwt.DecodeOperatorClaims(encoded); err != nil {
		t.Fatal(err)
	}
	if o.accID, err = jwt.NewAccountClaims(o.accPublic).Encode(o.operator); err != nil {
		t.Fatal(err)
	}
	return o
}

func (o *operator) options() server.Options {
	o.t.Helper()
	resolver := &server.MemAccResolver{}
	if err := resolver.Store(o.accPublic, o.accID); err != nil {
		o.t.Fatal(err)
	}
	return server.Options{TrustedOperators: []*jwt.OperatorClaims{o.claims}, AccountResolver: resolver}
}

// user gives the JWT and the seed of a new user.
func (o *operator) user(bearer bool) (token, seed string) {
	o.t.Helper()
	_, seed, public := newUser(o.t)
	claims := jwt.NewUserClaims(public)
	claims.BearerToken = bearer
	token, err := claims.Encode(o.acc)
	if err != nil {
		o.t.Fatal(err)
	}
	return token, seed
}
