package natstest

import (
	"log/slog"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/natsmig/natsmig/internal/embedded"
)

// The descriptions of accounts, whose zero values are documented with them.
type (
	// Account is one account: Name, Users, NoJetStream, Limits.
	Account = embedded.Account
	// User is one user: Name, Password, and Publish and Subscribe permissions.
	User = embedded.User
	// Permission lists subjects: Allow, Deny. Without Allow, all but Deny.
	Permission = embedded.Permission
	// Limits are the JetStream limits of an account; zero fields are no limit.
	Limits = embedded.Limits
	// ServerLimits are JetStream limits of a server; zero fields are no limit.
	ServerLimits = embedded.ServerLimits
)

// Option changes how a broker is started or connected to. A nil Option does
// nothing.
type Option func(*config)

type config struct {
	server  embedded.Config
	client  []nats.Option
	timeout time.Duration
	each    func(i int, c *embedded.Config)
}

func collect(opts []Option) config {
	c := config{timeout: startTimeout}
	for _, opt := range opts {
		if opt != nil {
			opt(&c)
		}
	}
	return c
}

// WithName sets the server's name, or that of a cluster. Without it: a random
// one, and C1, C2 and so on for clusters.
func WithName(name string) Option { return func(c *config) { c.server.Name = name } }

// WithBinary runs the nats-server at path as a process of its own.
func WithBinary(path string) Option { return func(c *config) { c.server.Binary = path } }

// WithBinaries runs the servers of a cluster from different binaries, the i-th
// from the i-th path, beginning again at the end. An empty path is the
// in-process server.
func WithBinaries(paths ...string) Option {
	return func(c *config) {
		c.each = func(i int, s *embedded.Config) { s.Binary = paths[i%len(paths)] }
	}
}

// WithStoreDir keeps the JetStream store in dir, which is not removed.
func WithStoreDir(dir string) Option { return func(c *config) { c.server.StoreDir = dir } }

// WithoutJetStream starts a broker without JetStream.
func WithoutJetStream() Option { return func(c *config) { c.server.NoJetStream = true } }

// WithDomain sets the JetStream domain.
func WithDomain(domain string) Option { return func(c *config) { c.server.Domain = domain } }

// WithMaxStore limits JetStream on the server, in bytes in memory and on disk.
// Zero is the server's default.
func WithMaxStore(memory, disk int64) Option {
	return func(c *config) { c.server.MaxMemory, c.server.MaxStore = memory, disk }
}

// WithServerLimits bounds what any account may ask for.
func WithServerLimits(l ServerLimits) Option {
	return func(c *config) { c.server.ServerLimits = l }
}

// WithTags sets the server tags that a stream placement can ask for.
func WithTags(tags ...string) Option { return func(c *config) { c.server.Tags = tags } }

// WithAccounts replaces the open global account by these accounts.
func WithAccounts(accounts ...Account) Option {
	return func(c *config) { c.server.Accounts = append(c.server.Accounts, accounts...) }
}

// WithNoAuthUser names the user that a client without credentials becomes.
func WithNoAuthUser(name string) Option { return func(c *config) { c.server.NoAuthUser = name } }

// WithLeafListener lets the broker be a hub for StartLeaf.
func WithLeafListener() Option { return func(c *config) { c.server.Leaf.Listen = true } }

// WithLeafAccounts joins the account of a leaf node to the account of the hub
// that the user belongs to. Without it, the two global accounts are joined.
func WithLeafAccounts(account string, hubUser User) Option {
	remote := embedded.LeafRemote{Account: account, User: hubUser.Name, Password: hubUser.Password}
	return func(c *config) { c.server.Leaf.Remotes = append(c.server.Leaf.Remotes, remote) }
}

// WithConfigText adds text to the end of the server's configuration file.
func WithConfigText(text string) Option {
	return func(c *config) { c.server.Extra += "\n" + text }
}

// WithServerOptions changes the options of the in-process server last of all.
// The test fails if it is given together with WithBinary.
func WithServerOptions(change func(*server.Options)) Option {
	return func(c *config) { c.server.Options = change }
}

// WithLogger receives the broker's log. Without it there is no log.
func WithLogger(to *slog.Logger) Option { return func(c *config) { c.server.Logger = to } }

// WithNATSOptions are options for the client's connection. They are applied in
// order and once each, on the client's defaults, and nil ones are skipped. An
// error handler among them is called after the client took note of the error.
func WithNATSOptions(opts ...nats.Option) Option {
	return func(c *config) { c.client = append(c.client, opts...) }
}

// WithUser makes the client connect as a user of WithAccounts.
func WithUser(name, password string) Option {
	return WithNATSOptions(nats.UserInfo(name, password))
}

// WithStartTimeout bounds the wait for the brokers. Without it: thirty seconds.
func WithStartTimeout(d time.Duration) Option { return func(c *config) { c.timeout = d } }
