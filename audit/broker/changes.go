package broker

// What changed within a line. Each was read in the sources of all patch releases,
// and found by comparing with brokers of older ones.
var (
	limitsFill = Change{
		"the stream's consumer_limits are the defaults of its consumers",
		[]Version{{2, 10, 1}},
		"consumer.go setConsumerConfigDefaults of 2.10.1",
	}
	unlimitedLadder = Change{
		"a ladder goes with unlimited deliveries (10116 before)",
		[]Version{{2, 10, 14}},
		"consumer.go:504 of 2.10.14",
	}
	fullLadder = Change{
		"a ladder may be as long as max_deliver (10116 before)",
		[]Version{{2, 10, 23}},
		"consumer.go:507 of 2.10.27",
	}
	waitsLast = Change{
		"an update is refused for its deliver_subject first, then for max_waiting",
		[]Version{{2, 10, 26}},
		"consumer.go checkNewConsumerConfig of 2.10.27",
	}
	systemNoAck = Change{
		"no_ack lets a stream overlap with the JetStream API, and one that overlaps with $SYS needs it (10052)",
		[]Version{{2, 10, 17}},
		"stream.go checkStreamCfg of 2.10.17",
	}
	othersCount = Change{
		"a stream that is created again does not count against the account's max_streams (10027 before)",
		[]Version{{2, 10, 26}},
		"jetstream_api.go countStreams of 2.10.27",
	}
	oneCopy = Change{
		"the bytes that a new stream reserves are counted without its replicas",
		[]Version{{2, 10, 8}},
		"jetstream.go checkBytesLimits of 2.10.8",
	}
	allCopies = Change{
		"the bytes that a stream reserves are counted with its replicas, and those of an update as they will be",
		[]Version{{2, 12, 9}, {2, 14, 1}},
		"jetstream.go checkBytesLimits of 2.12.9",
	}
	overlapsFirst = Change{
		"subjects that overlap each other are refused before max_bytes is looked at",
		[]Version{{2, 12, 5}},
		"stream.go checkStreamCfg of 2.12.5",
	}
	wordless = Change{
		"a mistake that is in no token of a mapping is told without naming one",
		[]Version{{2, 12, 5}},
		"errors.go of 2.12.5",
	}
	shortFunctions = Change{
		"the mapping functions left and right",
		[]Version{{2, 10, 15}},
		"subject_transform.go of 2.10.15",
	}
	wideReserved = Change{
		"subjects that only overlap with the broker's own, and $NRG, need no_ack (10052)",
		[]Version{{2, 10, 28}, {2, 11, 2}},
		"stream.go checkStreamCfg of 2.10.28",
	}
	randomFunction = Change{
		"the mapping function random",
		[]Version{{2, 12, 0}},
		"subject_transform.go of 2.12.15",
	}
	emptyPlacement = Change{
		"an empty placement is dropped",
		[]Version{{2, 11, 9}},
		"stream.go checkStreamCfg of 2.11.9",
	}
	sourcesWhole = Change{
		"transforms are checked before sizes, and those of external sources too",
		[]Version{{2, 12, 5}},
		"stream.go checkStreamCfg of 2.12.5",
	}
	schedulesOld = Change{
		"message schedules do not go with discard new (10052)",
		[]Version{{2, 12, 10}, {2, 14, 2}},
		"stream.go checkStreamCfg of 2.12.10",
	}
	shortChecked = Change{
		"left and right are taken where a mapping is checked (unknown function before)",
		[]Version{{2, 14, 7}},
		"subject_transform.go ValidateMapping of 2.14.7",
	}
	accountFunctions = Change{
		"the mapping functions of accounts are refused in streams as not available",
		[]Version{{2, 14, 10}, {2, 15, 3}},
		"subject_transform.go:254",
	}
	ownDestinations = Change{
		"a deliver_subject of the broker's own is refused (10112)",
		[]Version{{2, 14, 10}, {2, 15, 3}},
		"consumer.go:825",
	}
	markersSetTTL = Change{
		"subject_delete_marker_ttl switches allow_msg_ttl on (refused before, 10052)",
		[]Version{{2, 11, 2}},
		"stream.go checkStreamCfg of 2.11.2",
	}
	pullPriority = Change{
		"priority groups are refused on a push consumer (10178)",
		[]Version{{2, 11, 7}},
		"consumer.go checkConsumerCfg of 2.11.7",
	}
	consumersChange = Change{
		"max_consumers can be changed by an update (10052 before)",
		[]Version{{2, 12, 5}},
		"stream.go configUpdateCheck of 2.12.5",
	}
	subjectsName = Change{
		"the durable's name wins over another name (10132 before)",
		[]Version{{2, 12, 5}},
		"jetstream_api.go:4645 of 2.12.5",
	}
	assetNames = Change{
		"path separators in names are refused by the check of the configuration (10052)",
		[]Version{{2, 12, 8}},
		"consumer.go:743 of 2.15.3",
	}
	zeroLimits = Change{
		"taking consumer_limits away is accepted while a consumer has more (10069 before)",
		[]Version{{2, 12, 12}, {2, 14, 3}},
		"stream.go:2291 of 2.12.15",
	}
	storageStays = Change{
		"an update of mem_storage is refused (10012); before it shows and does nothing",
		[]Version{{2, 14, 4}},
		"consumer.go:2580",
	}
	kindStays = Change{
		"an update of direct and sourcing is refused (10012)",
		[]Version{{2, 14, 6}},
		"consumer.go:2585",
	}
	aloneStays = Change{
		"a single server refuses to update num_replicas above one (10074)",
		[]Version{{2, 14, 6}},
		"stream.go:2600",
	}
)

// Changes lists what changed within a line, in the order of the versions.
func Changes() []Change {
	return []Change{
		limitsFill, oneCopy, unlimitedLadder, shortFunctions, systemNoAck, fullLadder, waitsLast, othersCount, wideReserved, markersSetTTL,
		pullPriority, emptyPlacement, consumersChange, subjectsName, sourcesWhole, overlapsFirst, wordless, assetNames, allCopies, schedulesOld, zeroLimits,
		storageStays, kindStays, aloneStays, shortChecked, accountFunctions, ownDestinations,
	}
}
