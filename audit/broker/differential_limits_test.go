package broker_test

import (
	"testing"

	"github.com/natsmig/natsmig/audit/broker"
	"github.com/natsmig/natsmig/natstest"
)

func TestConsumersUnderAccountLimits(t *testing.T) {
	underLimits(t, natstest.Limits{MaxAckPending: 400, MaxConsumers: 2},
		broker.Limits{AccountAckPending: 400, AccountConsumers: 2},
		func(t *testing.T, x *target) { compareConsumers(t, x, 3) })
}

func TestStreamsUnderAccountLimits(t *testing.T) {
	underLimits(t, natstest.Limits{MaxStreams: 2, MaxConsumers: 2, MaxBytesRequired: true, MaxStream: 900, MaxMemoryStream: 500},
		broker.Limits{AccountStreams: 2, AccountConsumers: 2, MaxBytesRequired: true, FileMaxStreamSize: 900, MemoryMaxStreamSize: 500},
		func(t *testing.T, x *target) { x.maxBytes = true; compareStreams(t, x, 1) })
}

// underLimits gives both sides the same limits of the account.
func underLimits(t *testing.T, lim natstest.Limits, model broker.Limits, compare func(*testing.T, *target)) {
	t.Helper()
	account := natstest.Account{Name: "LIMITED", Users: []natstest.User{{Name: "u", Password: "p"}}, Limits: lim}
	onEachBroker(t, func(t *testing.T, x *target) {
		x.model.Limits = model
		x.pairs /= 2
		compare(t, x)
	}, natstest.WithAccounts(account), natstest.WithUser("u", "p"))
}

// TestClusterAgainstBroker compares with three servers of this version.
func TestClusterAgainstBroker(t *testing.T) {
	cluster := func(name string, compare func(*testing.T, *target)) {
		t.Run(name, func(t *testing.T) {
			c := natstest.StartCluster(t, 3)
			x := newTarget(t, c.Client, c.Brokers[0].Version())
			x.model.Clustered, x.replicas, x.pairs = true, []int{1, 3}, x.pairs/5
			compare(t, x)
		})
	}
	cluster("consumers", func(t *testing.T, x *target) { compareConsumers(t, x, 3) })
	cluster("streams", func(t *testing.T, x *target) { compareStreams(t, x, 3) })
}
