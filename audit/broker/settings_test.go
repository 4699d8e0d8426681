package broker_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/natsmig/natsmig/audit/broker"
	"github.com/natsmig/natsmig/natstest"
)

// A setting is one kind of broker that the model is compared with, on every
// version.
type setting struct {
	name    string
	share   int // one in share of the pairs is played here
	rare    int // how many percent each outcome has at least
	cluster bool
	server  natstest.ServerLimits
	account natstest.Limits
	limits  broker.Limits // of server and account, for the model
	// maxBytes: streams have max_bytes more often than not.
	maxBytes bool
}

var (
	standalone = setting{name: "standalone", share: 1, rare: 5}
	clustered  = setting{name: "cluster", share: 5, rare: 1, cluster: true}
)

// consumerSettings are those that decide about consumers.
func consumerSettings() []setting {
	return []setting{standalone, clustered, {
		name: "account limits", share: 2, rare: 3,
		account: natstest.Limits{MaxAckPending: 400, MaxConsumers: 2},
		limits:  broker.Limits{AccountAckPending: 400, AccountConsumers: 2},
	}, {
		name: "server limits", share: 4, rare: 3,
		server: natstest.ServerLimits{MaxAckPending: 700, MaxRequestBatch: 50},
		limits: broker.Limits{MaxAckPending: 700, MaxRequestBatch: 50},
	}}
}

// streamSettings are those that decide about streams.
func streamSettings() []setting {
	return []setting{standalone, clustered, {
		name: "account limits", share: 1, rare: 0, maxBytes: true,
		account: natstest.Limits{MaxStreams: 2, MaxConsumers: 2, MaxBytesRequired: true, MaxStream: 900, MaxMemoryStream: 500},
		limits:  broker.Limits{AccountStreams: 2, AccountConsumers: 2, MaxBytesRequired: true, FileMaxStreamSize: 900, MemoryMaxStreamSize: 500},
	}, {
		name: "account totals", share: 1, rare: 1, maxBytes: true,
		account: natstest.Limits{MaxStore: 1400, MaxMemory: 1000},
		limits:  broker.Limits{AccountStorage: 1400, AccountMemory: 1000},
	}, {
		name: "account totals in a cluster", share: 5, rare: 1, maxBytes: true, cluster: true,
		account: natstest.Limits{MaxStore: 2800, MaxMemory: 2000},
		limits:  broker.Limits{AccountStorage: 2800, AccountMemory: 2000},
	}, {
		name: "server limits", share: 4, rare: 3,
		server: natstest.ServerLimits{DuplicateWindow: time.Minute},
		limits: broker.Limits{DuplicateWindow: time.Minute},
	}}
}

// onEachBroker runs do in each setting, against the embedded broker or, where
// NATSMIG_BROKERS is set, against each of those.
func onEachBroker(t *testing.T, settings []setting, do func(*testing.T, *target, setting)) {
	t.Helper()
	for _, s := range settings {
		for _, b := range binaries(t) {
			t.Run(s.name+"/"+title(b), func(t *testing.T) {
				x := s.start(t, b)
				x.record = startRecorder(t, x.name)
				do(t, x, s)
			})
		}
	}
}

func title(binary string) string {
	if binary == "" {
		return "embedded"
	}
	return strings.TrimPrefix(filepath.Base(binary), "nats-server-")
}

// binaries lists what to compare with: the brokers of NATSMIG_BROKERS, or "" for
// the embedded one.
func binaries(t *testing.T) []string {
	t.Helper()
	dir := os.Getenv("NATSMIG_BROKERS")
	if dir == "" {
		return []string{""}
	}
	return natstest.Binaries(t, dir)
}

func (s setting) start(t *testing.T, binary string) *target {
	t.Helper()
	opts := []natstest.Option{natstest.WithServerLimits(s.server)}
	if binary != "" {
		opts = append(opts, natstest.WithBinary(binary))
	}
	if s.account != (natstest.Limits{}) {
		account := natstest.Account{Name: "LIMITED", Users: []natstest.User{{Name: "u", Password: "p"}}, Limits: s.account}
		opts = append(opts, natstest.WithAccounts(account), natstest.WithUser("u", "p"))
	}
	x := &target{pairs: pairs(t) / s.share, replicas: []int{1}, maxBytes: s.maxBytes}
	x.another = func() *target { return s.start(t, binary) }
	x.model = broker.Broker{Clustered: s.cluster, Limits: s.limits}
	if s.cluster {
		c := natstest.StartCluster(t, 3, opts...)
		x.nc, x.name, x.replicas = c.NC, c.Brokers[0].Version(), []int{1, 3}
	} else {
		b := natstest.Start(t, opts...)
		x.nc, x.name = b.NC, b.Version()
	}
	v, err := broker.ParseVersion(x.name)
	if err != nil {
		t.Fatal(err)
	}
	x.model.Version = v
	return x
}

func pairs(t *testing.T) int {
	t.Helper()
	n := envInt(t, "NATSMIG_PAIRS", defaultPairs)
	if testing.Short() {
		n /= 5
	}
	return n
}

func seed(t *testing.T) uint64 {
	t.Helper()
	n := uint64(envInt(t, "NATSMIG_SEED", defaultSeed))
	t.Logf("NATSMIG_SEED=%d", n)
	return n
}

func envInt(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}
