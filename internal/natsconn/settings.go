package natsconn

// settings is a context file with the flags laid over it. It holds secrets: it is
// kept behind pointers and never printed.
type settings struct {
	description   string
	url           string
	socksProxy    string
	token         string
	user          string
	password      string
	creds         string
	nkey          string
	cert          string
	key           string
	ca            string
	nsc           string
	jsDomain      string
	jsAPIPrefix   string
	jsEventPrefix string
	inboxPrefix   string
	userJWT       string
	userSeed      string
	colorScheme   string
	tlsFirst      bool
	winCertStore  string
}

// field gives the text field of a key in a context file, nil for an unknown key.
func (s *settings) field(key string) *string {
	return map[string]*string{
		"description":            &s.description,
		"url":                    &s.url,
		"socks_proxy":            &s.socksProxy,
		"token":                  &s.token,
		"user":                   &s.user,
		"password":               &s.password,
		"creds":                  &s.creds,
		"nkey":                   &s.nkey,
		"cert":                   &s.cert,
		"key":                    &s.key,
		"ca":                     &s.ca,
		"nsc":                    &s.nsc,
		"jetstream_domain":       &s.jsDomain,
		"jetstream_api_prefix":   &s.jsAPIPrefix,
		"jetstream_event_prefix": &s.jsEventPrefix,
		"inbox_prefix":           &s.inboxPrefix,
		"user_jwt":               &s.userJWT,
		"user_seed":              &s.userSeed,
		"color_scheme":           &s.colorScheme,
		"windows_cert_store":     &s.winCertStore,
	}[key]
}

// expand expands variables and "~" in the fields that name files.
func (s *settings) expand(env Env) {
	for _, field := range []*string{&s.creds, &s.nkey, &s.cert, &s.key, &s.ca} {
		*field = env.expandPath(*field)
	}
}

// overlay lays the flags over the context.
func (s *settings) overlay(c Config) {
	for _, over := range []struct {
		field *string
		value string
	}{
		{&s.url, c.Servers},
		{&s.token, string(c.Token)},
		{&s.creds, string(c.Creds)},
		{&s.nkey, string(c.NKey)},
		{&s.userJWT, string(c.UserJWT)},
		{&s.userSeed, string(c.UserSeed)},
		{&s.cert, c.TLSCert},
		{&s.key, c.TLSKey},
		{&s.ca, c.TLSCA},
		{&s.jsDomain, c.JSDomain},
		{&s.jsAPIPrefix, c.JSAPIPrefix},
		{&s.jsEventPrefix, c.JSEventPrefix},
		{&s.inboxPrefix, c.InboxPrefix},
		{&s.socksProxy, c.SocksProxy},
	} {
		if over.value != "" {
			*over.field = over.value
		}
	}
	s.tlsFirst = s.tlsFirst || c.TLSFirst
	s.overlayUser(c.User, string(c.Password))
	if c.SocksProxy == "none" || c.SocksProxy == "NONE" || c.SocksProxy == "-" {
		s.socksProxy = ""
	}
}

// overlayUser follows the nats tool: a user without a password is a token, also
// where the context has a user and a password, which then stay.
func (s *settings) overlayUser(user, password string) {
	if user != "" && password == "" {
		s.token = user
		return
	}
	if user != "" {
		s.user = user
	}
	if password != "" {
		s.password = password
	}
}
