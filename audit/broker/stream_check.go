package broker

import (
	"fmt"
	"slices"
	"time"
)

// streamRequest is everything that a check on a stream may look at.
type streamRequest struct {
	Broker
	c     *StreamConfig
	peers []*StreamConfig // the account's other streams
}

// streamChecks are applied in the broker's order, to new streams and updates
// alike (stream.go checkStreamCfgLocked of 2.15.3).
var streamChecks = []func(*streamRequest) *refusal{
	checkStreamName,
	checkStreamTexts,
	checkStreamReplicas,
	checkStreamAge,
	checkDuplicates,
	checkRollup,
	checkCounter,
	checkDiscardPer,
	checkMarkers,
	checkPersist,
	checkMirror,
	checkSources,
	checkSubjects,
	checkMaxBytes,
	checkRepublish,
	checkPlacement,
}

func (r *streamRequest) check() *refusal {
	for _, k := range streamChecks {
		if no := k(r); no != nil {
			return no
		}
	}
	return nil
}

// badStream is the general refusal of a stream's configuration, 10052.
func badStream(field, why string) *refusal { return refuse(field, 500, 10052, why) }

func checkStreamName(r *streamRequest) *refusal {
	if !validAssetName(r.c.Name) {
		return badStream("name", `stream name is required and can not contain '.', '*', '>', '\', '/'`)
	}
	if len(r.c.Name) > maxName {
		return badStream("name", fmt.Sprintf("stream name is too long, maximum allowed is %d", maxName))
	}
	return nil
}

func checkStreamTexts(r *streamRequest) *refusal {
	if len(r.c.Description) > maxDescription {
		return badStream("description", fmt.Sprintf("stream description is too long, maximum allowed is %d", maxDescription))
	}
	var n int
	for k, v := range r.c.Metadata {
		n += len(k) + len(v)
	}
	if n > maxMetadata {
		return badStream("metadata", fmt.Sprintf("stream metadata exceeds maximum size of %d bytes", maxMetadata))
	}
	return nil
}

const maxReplicas = 5

func checkStreamReplicas(r *streamRequest) *refusal {
	if r.c.Replicas > maxReplicas {
		return badStream("num_replicas", fmt.Sprintf("maximum replicas is %d", maxReplicas))
	}
	if r.c.Replicas < 0 {
		return refuse("num_replicas", 400, 10133, "replicas count cannot be negative")
	}
	return nil
}

func checkStreamAge(r *streamRequest) *refusal {
	if r.c.MaxAge < 0 {
		return badStream("max_age", "max age can not be negative")
	}
	if r.c.MaxAge != 0 && r.c.MaxAge < 100*time.Millisecond {
		return badStream("max_age", "max age needs to be >= 100ms")
	}
	return nil
}

func checkDuplicates(r *streamRequest) *refusal {
	d, limit := r.c.Duplicates, r.Limits.DuplicateWindow
	switch {
	case d < 0:
		return badStream("duplicate_window", "duplicates window can not be negative")
	case r.c.MaxAge != 0 && d > r.c.MaxAge:
		return badStream("duplicate_window", "duplicates window can not be larger then max age")
	case limit > 0 && d > limit:
		return badStream("duplicate_window", fmt.Sprintf("duplicates window can not be larger then server limit of %v", limit))
	case d > 0 && d < 100*time.Millisecond:
		return badStream("duplicate_window", "duplicates window needs to be >= 100ms")
	}
	return nil
}

func checkRollup(r *streamRequest) *refusal {
	if r.c.DenyPurge && r.c.AllowRollup {
		return badStream("deny_purge", "roll-ups require the purge permission")
	}
	return nil
}

func checkCounter(r *streamRequest) *refusal {
	switch c := r.c; {
	case !c.AllowMsgCounter:
	case c.Discard == DiscardNew:
		return badStream("allow_msg_counter", "counter stream cannot use discard new")
	case c.AllowMsgTTL:
		return badStream("allow_msg_counter", "counter stream cannot use message TTLs")
	case c.AllowMsgSchedules:
		return badStream("allow_msg_counter", "counter stream cannot use message schedules")
	case c.Retention != LimitsRetention:
		return badStream("allow_msg_counter", "counter stream can only use limits retention")
	}
	return nil
}

func checkDiscardPer(r *streamRequest) *refusal {
	switch c := r.c; {
	case !c.DiscardNewPer:
	case c.Discard != DiscardNew:
		return badStream("discard_new_per_subject", "discard new per subject requires discard new policy to be set")
	case c.MaxMsgsPer <= 0:
		return badStream("discard_new_per_subject", "discard new per subject requires max msgs per subject > 0")
	}
	return nil
}

func checkMarkers(r *streamRequest) *refusal {
	ttl := r.c.SubjectDeleteMarkerTTL
	switch {
	case ttl > 0 && ttl < time.Second:
		return badStream("subject_delete_marker_ttl", "subject delete marker TTL must be at least 1 second")
	case ttl < 0:
		return badStream("subject_delete_marker_ttl", "subject delete marker TTL must not be negative")
	case r.c.AllowMsgSchedules && r.c.Discard == DiscardNew:
		return badStream("allow_msg_schedules", "message scheduling cannot use discard new")
	}
	return nil
}

func checkPersist(r *streamRequest) *refusal {
	switch c := r.c; {
	case c.PersistMode != AsyncPersist:
	case c.Storage != FileStorage:
		return badStream("persist_mode", "async persist mode is only supported on file storage")
	case c.Replicas > 1:
		return badStream("persist_mode", "async persist mode is not supported on replicated streams")
	case c.AllowAtomicPublish:
		return badStream("persist_mode", "async persist mode is not supported with atomic batch publish")
	}
	return nil
}

func checkSubjects(r *streamRequest) *refusal {
	c := r.c
	for i, s := range c.Subjects {
		switch {
		case !ValidSubject(s):
			return badStream("subjects", "invalid subject")
		case slices.Contains(c.Subjects[:i], s):
			return badStream("subjects", "duplicate subjects detected")
		case s == ">" && !c.NoAck:
			return badStream("subjects", "capturing all subjects requires no-ack to be true")
		case s == ">" && c.Replicas != 1:
			return badStream("subjects", "capturing all subjects requires replicas of 1")
		}
		if !c.NoAck {
			if no := checkReservedSubject(s); no != nil {
				return no
			}
		}
		for _, t := range c.Subjects[i+1:] {
			if s != t && SubjectsCollide(t, s) {
				return badStream("subjects", fmt.Sprintf("subject %q overlaps with %q", s, t))
			}
		}
	}
	return nil
}

func checkReservedSubject(s string) *refusal {
	for _, space := range []string{"$JS.>", "$JSC.>", "$NRG.>"} {
		if SubjectsCollide(s, space) && !SubjectWithin(s, "$JS.EVENT.>") {
			return badStream("subjects", "subjects that overlap with jetstream api require no-ack to be true")
		}
	}
	if SubjectsCollide(s, "$SYS.>") && !SubjectWithin(s, "$SYS.ACCOUNT.>") {
		return badStream("subjects", "subjects that overlap with system api require no-ack to be true")
	}
	return nil
}

func checkMaxBytes(r *streamRequest) *refusal {
	limit := r.Limits.FileMaxStreamSize
	if r.c.Storage == MemoryStorage {
		limit = r.Limits.MemoryMaxStreamSize
	}
	if r.Limits.MaxBytesRequired && r.c.MaxBytes <= 0 {
		return refuse("max_bytes", 400, 10113, "account requires a stream config to have max bytes set")
	}
	if limit > 0 && r.c.MaxBytes > limit {
		return refuse("max_bytes", 400, 10122, "stream max bytes exceeds account limit max stream bytes")
	}
	return nil
}

func checkRepublish(r *streamRequest) *refusal {
	p := r.c.Republish
	if p != nil && slices.ContainsFunc(r.c.Subjects, func(s string) bool { return SubjectsCollide(p.Destination, s) }) {
		return badStream("republish", "stream configuration for republish destination forms a cycle")
	}
	return nil
}

func checkPlacement(r *streamRequest) *refusal {
	if r.c.Placement != nil && r.c.Placement.Preferred != "" {
		return badStream("placement", "preferred server not permitted in placement")
	}
	return nil
}
