package audit

// Rules returns every rule, ordered by code.
func Rules() []*Rule {
	return []*Rule{
		outlivesMaxAge, suspiciousUnit, zeroRung, rungBeyondLast,
		mixedOwnership, burningNak, descendingRung, budgetOverRung, slowHeartbeat, shortHeartbeat,
		deepPrefetch, noCapture, noReserve, thinReserve, pinBound, fullAckPending,
		strandedBound, deletedWhenIdle, shortDedup, longDrain, slowRecovery,
		silentReset, orphanedLadder, clamped, refused, clientArtifact, ignoredField, deadFilter,
		ackNoneByDefault, inheritedThreshold, unlimitedOnWorkQueue, narrowedFilter, widenedFilter,
		stampedThreshold, demoted, bindRefused, deferredGroup, starved, loweredMaxDeliver,
		sharedWork, textualCreate, brokenOrder, unsent,
		streamRefused, streamLoss, streamReset, stays, stranded, fullAtOnce,
		undeclaredDurable, missingDurable, pinnedFloor, undeclaredStream, rollsBack, flapping,
		assumption, expiredExcuse, idleExcuse, toolDefault,
	}
}
