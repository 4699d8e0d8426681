package natsconn

import (
	"context"
	"errors"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
)

// authKind gives which of the credentials are used, in the nats tool's order. A
// token goes along with any of them.
func (s *settings) authKind() string {
	switch {
	case s.user != "":
		return "user"
	case s.creds != "" || s.nsc != "":
		return "creds"
	case s.nkey != "":
		return "nkey"
	case s.userJWT != "":
		return "jwt"
	case s.token != "":
		return "token"
	}
	return "none"
}

// ignored gives the settings that are there and not used.
func (s *settings) ignored() []string {
	kind := s.authKind()
	var list []string
	for _, other := range []struct {
		kind, name, value string
	}{
		{"creds", "creds", s.creds},
		{"nkey", "nkey", s.nkey},
		{"jwt", "user_jwt", s.userJWT},
		{"jwt", "user_seed", s.userSeed},
		{"user", "password", s.password},
	} {
		if other.value != "" && other.kind != kind {
			list = append(list, other.name)
		}
	}
	if s.cert != "" && s.key == "" {
		list = append(list, "cert")
	}
	if s.cert == "" && s.key != "" {
		list = append(list, "key")
	}
	return list
}

// reference is a field whose value may point somewhere else.
type reference struct {
	field, ref string
	literal    bool
}

// references gives the references that the connection will use.
func (s *settings) references() []reference {
	var list []reference
	switch s.authKind() {
	case "user":
		list = append(list, reference{"password", s.password, true})
	case "creds":
		list = append(list, reference{"creds", s.creds, false})
	case "nkey":
		list = append(list, reference{"nkey", s.nkey, false})
	case "jwt":
		list = append(list, reference{"user_jwt", s.userJWT, true}, reference{"user_seed", s.userSeed, true})
	}
	return append(list, reference{"token", s.token, true})
}

// authOptions reads the credentials and gives the client's options, and the
// secrets that may show up in what a server says.
func (s *settings) authOptions(ctx context.Context, r resolver) ([]nats.Option, []string, error) {
	token, err := r.literal(ctx, "token", s.token)
	if err != nil {
		return nil, nil, err
	}
	var opts []nats.Option
	secrets := []string{token}
	if token != "" {
		opts = append(opts, nats.Token(token))
	}
	var opt nats.Option
	switch s.authKind() {
	case "user":
		var password string
		if password, err = r.literal(ctx, "password", s.password); err == nil {
			opt, secrets = nats.UserInfo(s.user, password), append(secrets, password)
		}
	case "creds":
		opt, err = s.credsOption(ctx, r)
	case "nkey":
		opt, err = s.nkeyOption(ctx, r)
	case "jwt":
		opt, err = s.jwtOption(ctx, r)
	}
	if opt != nil {
		opts = append(opts, opt)
	}
	return opts, secrets, err
}

// credsOption reads the credentials once. A file is not read again for a
// reconnect, other than in the nats tool: natsmig's commands are short.
func (s *settings) credsOption(ctx context.Context, r resolver) (nats.Option, error) {
	data, err := r.bytes(ctx, "creds", s.creds)
	if err != nil {
		return nil, err
	}
	jwt, err := nkeys.ParseDecoratedJWT(data)
	if err != nil {
		return nil, errors.New("creds: there is no user JWT in them")
	}
	pair, err := nkeys.ParseDecoratedNKey(data)
	if err != nil {
		return nil, errors.New("creds: there is no user seed in them")
	}
	return nats.UserJWT(func() (string, error) { return jwt, nil }, pair.Sign), nil
}

func (s *settings) nkeyOption(ctx context.Context, r resolver) (nats.Option, error) {
	data, err := r.bytes(ctx, "nkey", s.nkey)
	if err != nil {
		return nil, err
	}
	pair, err := nkeys.ParseDecoratedNKey(data)
	if err != nil {
		return nil, errors.New("nkey: there is no seed in it")
	}
	public, err := pair.PublicKey()
	if err != nil || !nkeys.IsValidPublicUserKey(public) {
		return nil, errors.New("nkey: the seed is not one of a user")
	}
	return nats.Nkey(public, pair.Sign), nil
}

// jwtOption gives the option for a JWT; one without a seed is a bearer's.
func (s *settings) jwtOption(ctx context.Context, r resolver) (nats.Option, error) {
	jwt, err := r.literal(ctx, "user_jwt", s.userJWT)
	if err != nil {
		return nil, err
	}
	give := func() (string, error) { return jwt, nil }
	if s.userSeed == "" {
		return nats.UserJWT(give, func([]byte) ([]byte, error) { return nil, nil }), nil
	}
	seed, err := r.literal(ctx, "user_seed", s.userSeed)
	if err != nil {
		return nil, err
	}
	pair, err := nkeys.FromSeed([]byte(seed))
	if err != nil {
		return nil, errors.New("user_seed: it is not a seed")
	}
	return nats.UserJWT(give, pair.Sign), nil
}
