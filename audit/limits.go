package audit

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/natsmig/natsmig/audit/broker"
)

// accountLimits is the part of the account's JetStream info that decides.
type accountLimits struct {
	MaxStreams       int    `json:"max_streams"`
	MaxConsumers     int    `json:"max_consumers"`
	MaxAckPending    int    `json:"max_ack_pending"`
	MemoryMaxStream  int64  `json:"memory_max_stream_bytes"`
	StorageMaxStream int64  `json:"storage_max_stream_bytes"`
	MaxMemory        *int64 `json:"max_memory"`
	MaxStorage       *int64 `json:"max_storage"`
	MaxBytesRequired bool   `json:"max_bytes_required"`
}

// setLimits reads the account's limits. The server's own limits
// (jetstream { limits { … } }) are in no reply of the API, so they are taken to
// be the defaults: none.
func (c *CellView) setLimits(account json.RawMessage) error {
	if len(account) == 0 || bytes.Equal(bytes.TrimSpace(account), []byte("{}")) {
		c.assume("the snapshot has no account info: limits are taken to be the server's defaults")
		return nil
	}
	var info struct {
		Name   string                 `json:"account"`
		Limits accountLimits          `json:"limits"`
		Tiers  map[string]accountTier `json:"tiers"`
	}
	if err := json.Unmarshal(account, &info); err != nil {
		return fmt.Errorf("account: %w", err)
	}
	c.Account = info.Name
	limits := info.Limits
	if len(info.Tiers) > 0 {
		c.assume("the account has limits by tier: the model applies those of R1, and no limit on the bytes of all streams")
		limits = info.Tiers["R1"].Limits
		limits.MaxMemory, limits.MaxStorage = nil, nil
	}
	c.Broker.Limits = broker.Limits{
		AccountAckPending:   limits.MaxAckPending,
		AccountConsumers:    limits.MaxConsumers,
		AccountStreams:      limits.MaxStreams,
		AccountMemory:       byteLimit(limits.MaxMemory),
		AccountStorage:      byteLimit(limits.MaxStorage),
		MaxBytesRequired:    limits.MaxBytesRequired,
		MemoryMaxStreamSize: limits.MemoryMaxStream,
		FileMaxStreamSize:   limits.StorageMaxStream,
	}
	return nil
}

type accountTier struct {
	Limits accountLimits `json:"limits"`
}

// byteLimit reads the API's way: a negative limit is none, and zero is nothing at
// all. A member that is missing is none.
func byteLimit(n *int64) int64 {
	switch {
	case n == nil || *n < 0:
		return 0
	case *n == 0:
		return broker.NoBytes
	}
	return *n
}
