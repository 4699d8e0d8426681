package broker

// bytesRefusal is about the bytes that the account may reserve: max_bytes of all
// streams of one storage, each times its replicas (jetstream.go:2589 of 2.15.3).
// Live is nil for a new stream.
func (b Broker) bytesRefusal(live *StreamConfig, peers []*StreamConfig, next *StreamConfig) *refusal {
	limit, no := b.Limits.AccountStorage, refuse("max_bytes", 500, 10047, "insufficient storage resources available")
	if next.Storage == MemoryStorage {
		limit, no = b.Limits.AccountMemory, refuse("max_bytes", 500, 10028, "insufficient memory resources available")
	}
	if limit == 0 {
		return nil
	}
	needs := b.ownBytes(live, next)
	for _, p := range peers {
		if p.Storage == next.Storage && p.MaxBytes > 0 {
			needs += p.MaxBytes * b.peerCopies(p, next)
		}
	}
	if needs > max(limit, 0) {
		return no
	}
	return nil
}

// ownBytes is what the stream itself needs: one byte where it is new and sets no
// max_bytes.
func (b Broker) ownBytes(live, next *StreamConfig) int64 {
	copies := int64(max(next.Replicas, 1))
	if b.Version.has(&oneCopy) && !b.Version.has(&allCopies) {
		copies = 1 // these do not count the replicas of what is new
	}
	switch {
	case live == nil && next.MaxBytes < 0:
		return copies
	case live == nil:
		return next.MaxBytes * copies
	case b.Version.has(&allCopies):
		return max(next.MaxBytes, 0) * copies
	}
	return b.grownBytes(live, next, copies)
}

// grownBytes is what an update needs on older brokers: what the stream has already,
// even where it asks for less, and what it asks for more. No max_bytes counts as
// minus one there before 2.11, and 2.9 counts new replicas of the old bytes.
func (b Broker) grownBytes(live, next *StreamConfig, copies int64) int64 {
	has, wants := live.MaxBytes, next.MaxBytes
	if b.Version.AtLeast(11) {
		has, wants = max(has, 0), max(wants, 0)
	}
	needs := has*int64(live.Replicas) + max(wants-has, 0)*copies
	if !b.Version.AtLeast(10) {
		needs += max(has, 0) * int64(max(next.Replicas-live.Replicas, 0))
	}
	return needs
}

// peerCopies is how often another stream's bytes count. A cluster of 2.10 takes
// the replicas of the stream in question for those of all.
func (b Broker) peerCopies(peer, next *StreamConfig) int64 {
	if b.Clustered && b.Version.AtLeast(10) && !b.Version.AtLeast(11) {
		return int64(max(next.Replicas, 1))
	}
	return int64(max(peer.Replicas, 1))
}
