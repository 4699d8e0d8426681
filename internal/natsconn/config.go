package natsconn

import (
	"fmt"
	"strings"
	"time"
)

// DefaultTimeout is the timeout where none is given, as in the nats tool.
const DefaultTimeout = 5 * time.Second

// Config is what the command line says about connections. The zero value means:
// the environment, then the selected context, then nats://127.0.0.1:4222.
//
// An empty field is filled from its environment variable by [Resolve], and then
// from the context. A Config prints no value, but keep it in exported fields: fmt
// does not ask those that are below an unexported one.
type Config struct {
	// Servers is a comma list of server URLs (--server, NATS_URL).
	Servers string
	// Contexts are names of contexts, or paths of context files that end in
	// ".json"; each is a cell (--context; NATS_CONTEXT holds one name). None means
	// the selected context.
	Contexts []string
	// NoContext leaves the selected context out (--no-context). Contexts and
	// NATS_CONTEXT are then not read either.
	NoContext bool

	// User is a user name, or a token if Password is empty (--user, NATS_USER).
	User string
	// Password belongs to User (--password, NATS_PASSWORD).
	Password Secret
	// Token is an authentication token (--token, NATS_TOKEN).
	Token Secret
	// Creds is a credentials file or reference (--creds, NATS_CREDS).
	Creds Secret
	// NKey is the file of an nkey seed, or a reference (--nkey, NATS_NKEY).
	NKey Secret
	// UserJWT is a user JWT or a reference to one (--jwt, NATS_JWT).
	UserJWT Secret
	// UserSeed is the seed that belongs to UserJWT (--seed, NATS_SEED).
	UserSeed Secret

	// TLSCert and TLSKey are the files of a client certificate (--tlscert,
	// NATS_CERT; --tlskey, NATS_KEY). One without the other is not used.
	TLSCert, TLSKey string
	// TLSCA is the file of certificate authorities; empty means the system's
	// (--tlsca, NATS_CA).
	TLSCA string
	// TLSFirst shakes hands before the server's greeting (--tlsfirst). False
	// means what the context says.
	TLSFirst bool

	// JSDomain is the JetStream domain (--js-domain). As in the nats tool it, the
	// prefixes and TLSFirst have no environment variable.
	JSDomain string
	// JSAPIPrefix replaces "$JS.API" (--js-api-prefix). A domain and a prefix
	// exclude each other.
	JSAPIPrefix string
	// JSEventPrefix replaces "$JS.EVENT" (--js-event-prefix).
	JSEventPrefix string
	// InboxPrefix replaces "_INBOX" (--inbox-prefix).
	InboxPrefix string
	// Timeout bounds connecting, and is meant for each request (--timeout,
	// NATS_TIMEOUT). Zero means OtherTimeout, and where that is zero, too,
	// DefaultTimeout.
	Timeout, OtherTimeout time.Duration
	// SocksProxy is the URL of a SOCKS5 proxy; "none" takes away the context's
	// (--socks-proxy, NATS_SOCKS_PROXY).
	SocksProxy string

	// AllowPrograms lets references of the schemes op and nsc run the programs of
	// that name (--allow-programs). False refuses them.
	AllowPrograms bool

	// Env is the world around; the zero value is this process's.
	Env Env
}

// String names the fields that are set, and no value.
func (c Config) String() string {
	var set []string
	for name, value := range c.named() {
		if value != "" {
			set = append(set, name)
		}
	}
	return fmt.Sprintf("config{contexts: %d, set: %s}", len(c.Contexts), strings.Join(sorted(set), " "))
}

// GoString is String, for %#v.
func (c Config) GoString() string { return c.String() }

// MarshalJSON gives String as a JSON string.
func (c Config) MarshalJSON() ([]byte, error) { return fmt.Appendf(nil, "%q", c.String()), nil }

// named gives the text fields by the names of their flags.
func (c Config) named() map[string]string {
	return map[string]string{
		"--server": c.Servers, "--user": c.User, "--password": string(c.Password),
		"--token": string(c.Token), "--creds": string(c.Creds), "--nkey": string(c.NKey),
		"--jwt": string(c.UserJWT), "--seed": string(c.UserSeed), "--tlscert": c.TLSCert,
		"--tlskey": c.TLSKey, "--tlsca": c.TLSCA, "--js-domain": c.JSDomain,
		"--js-api-prefix": c.JSAPIPrefix, "--js-event-prefix": c.JSEventPrefix,
		"--inbox-prefix": c.InboxPrefix, "--socks-proxy": c.SocksProxy,
	}
}
