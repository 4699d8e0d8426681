package embedded

import (
	"errors"
	"log/slog"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// Config says how one broker is started. The zero Config is a standalone
// in-process broker with JetStream, one open account, and a store that is
// removed on Close.
type Config struct {
	// Name is the server's name, which JetStream takes as the identity of a
	// peer. Zero: a random one, kept across restarts.
	Name string
	// Binary is the path of a nats-server to run as a process of its own.
	// Zero: the server linked into this program.
	Binary string
	// StoreDir is the JetStream store. It is left in place by Close.
	// Zero: a temporary directory that Close removes.
	StoreDir string
	// NoJetStream starts a broker without JetStream. Zero: with JetStream.
	NoJetStream bool
	// Domain is the JetStream domain. Zero: none.
	Domain string
	// MaxMemory and MaxStore limit JetStream, in bytes. Zero: the server's own
	// default, three quarters of the memory and of the free disk.
	MaxMemory, MaxStore int64
	// ServerLimits bound what any account may ask for. Zero: none.
	ServerLimits ServerLimits
	// Tags are the server tags that a stream placement can ask for.
	Tags []string
	// Accounts are the accounts beside the system account, which the package
	// keeps for itself. Empty: the global account, open to everyone.
	Accounts []Account
	// NoAuthUser is the user that a client without credentials becomes.
	// Zero: with Accounts such a client is refused.
	NoAuthUser string
	// Cluster, Gateway and Leaf join the broker to others. Zero: standalone.
	// The topologies of this package fill them in.
	Cluster ClusterOptions
	Gateway GatewayOptions
	Leaf    LeafOptions
	// Extra is configuration text that is put after the generated one.
	Extra string
	// Options changes the options of an in-process server last of all, on
	// every start. It is an error together with Binary. Zero: no change.
	Options func(*server.Options)
	// Logger receives the broker's log. Debug lines come only if it is enabled
	// for them. Zero: the log is dropped, but for the last lines, which are
	// part of the error when a start fails.
	Logger *slog.Logger
}

// Account is one account of a broker.
type Account struct {
	Name  string
	Users []User
	// NoJetStream leaves JetStream off in the account. Zero: on.
	NoJetStream bool
	// Limits are the account's JetStream limits. Zero: none.
	Limits Limits
}

// Limits are the JetStream limits of one account. A zero field is no limit.
type Limits struct {
	MaxMemory, MaxStore        int64 // bytes of all streams
	MaxMemoryStream, MaxStream int64 // bytes of one stream, in memory and on disk
	MaxStreams, MaxConsumers   int
	MaxAckPending              int  // highest max_ack_pending of a consumer
	MaxBytesRequired           bool // a stream must set max_bytes
}

// ServerLimits are JetStream limits of a server. A zero field is no limit.
type ServerLimits struct {
	MaxAckPending   int // highest max_ack_pending of a consumer
	MaxRequestBatch int // highest max_batch of a consumer
	DuplicateWindow time.Duration
}

// User is one user of an account, known by password.
type User struct {
	Name, Password string
	// Publish and Subscribe are the user's permissions. Zero: everything.
	Publish, Subscribe Permission
}

// Permission lists subjects. An empty Allow allows everything that Deny does
// not name.
type Permission struct {
	Allow, Deny []string
}

// ClusterOptions are a broker's routes. Zero: no cluster.
type ClusterOptions struct {
	Name   string
	Routes []string // URLs of the peers
	Port   int      // zero: picked
}

// GatewayOptions are a broker's gateways. Zero: none.
type GatewayOptions struct {
	Name    string              // must be the name of the cluster
	Remotes map[string][]string // URLs, by the name of the gateway
	Port    int                 // zero: picked
}

// LeafOptions are a broker's leaf node connections. Zero: none.
type LeafOptions struct {
	// Listen accepts leaf nodes.
	Listen bool
	Port   int // zero: picked
	// Remotes are the hubs that the broker connects to.
	Remotes []LeafRemote
}

// LeafRemote is one connection of a leaf node to a hub.
type LeafRemote struct {
	URLs []string // empty: those of the hubs given to StartLeaf
	// User and Password are the credentials in the hub. Zero: none.
	User, Password string
	// Account is the account of the leaf node that is joined. Zero: the global.
	Account string
}

func (c Config) withDefaults() Config {
	if c.Name == "" {
		c.Name = "server-" + randomText(8)
	}
	return c
}

func (c Config) check() error {
	if c.Binary != "" && c.Options != nil {
		return errors.New("the field Options cannot change an external server: use Extra, or leave out Binary")
	}
	return nil
}
