package broker

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// streamRequest is everything that a step may look at. The steps fill in c as
// they go, because the broker's do.
type streamRequest struct {
	Broker
	c     *StreamConfig
	peers []*StreamConfig // the account's streams, the one in question included
}

// A streamStep is one default or one reason to refuse a stream.
type streamStep struct {
	Check
	step func(*streamRequest) *refusal
}

// streamSteps are in the broker's order, for new streams and updates alike
// (stream.go:1947 checkStreamCfgLocked of 2.15.3).
var streamSteps = []streamStep{
	{check("the name", 0, 0, "stream.go:1953"), checkStreamName},
	{check("the length of the description", 0, 0, "stream.go:1959"), checkStreamDescription},
	{check("the size of the metadata", 10, 0, "stream.go:1963"), checkStreamMetadata},
	{check("replicas", 0, 0, "stream.go:1991"), checkStreamReplicas},
	{check("limits that are none", 0, 0, "stream.go:2000"), fillLimits},
	{check("max_age", 12, 0, "stream.go:2030"), checkAge},
	{check("duplicate_window of its own", 0, 0, "stream.go:2037"), fillDuplicates},
	{check("max_age", 0, 11, "stream.go:1410 of 2.11.17"), checkAge29},
	{check("duplicate_window against the limits", 0, 0, "stream.go:2054"), checkDuplicates},
	{check("roll-ups without purge", 0, 0, "stream.go:2069"), checkRollup},
	{check("a counter stream", 12, 0, "stream.go:2073"), checkCounter},
	{check("discard_new_per_subject", 0, 0, "stream.go:2089"), checkDiscardPer},
	{check("delete markers", 11, 0, "stream.go:2099"), checkMarkers},
	{check("message schedules", 12, 0, "stream.go:2119"), checkSchedules},
	{check("persist_mode async", 12, 0, "stream.go:2131"), checkPersist},
	{check("a mirror, and its origin", 0, 9, "stream.go:1130 of 2.9.25"), checkMirror29},
	{check("a mirror, and its origin", 10, 0, "stream.go:2169"), checkMirror},
	{check("sources, and their origins", 0, 9, "stream.go:1181 of 2.9.25"), checkSources29},
	{check("sources, and their origins", 10, 0, "stream.go:2274"), checkSources},
	{check("the prefixes of other domains and accounts", 0, 0, "stream.go:2360"), checkPrefixes},
	{check("cycles of sources and mirrors", 0, 0, "stream.go:2382"), checkCycles},
	{check("subjects", 0, 0, "stream.go:2428"), checkSubjects},
	{check("max_bytes against the account's limits", 0, 0, "stream.go:2491"), checkMaxBytes},
	{check("subjects against each other", 0, 12, "stream.go:1765 of 2.11.17").to(&overlapsFirst), checkOverlaps},
	{check("subject_transform", 11, 0, "stream.go:2498"), checkTransform},
	{check("republish", 0, 0, "stream.go:2510"), checkRepublish},
	{check("placement", 11, 0, "stream.go:2548"), checkPlacement},
}

func (r *streamRequest) check() *refusal {
	for i := range streamSteps {
		s := &streamSteps[i]
		if !s.holds(r.Version) {
			continue
		}
		if no := s.step(r); no != nil {
			return no
		}
	}
	return nil
}

// peer finds a stream of the account.
func (r *streamRequest) peer(name string) *StreamConfig {
	if i := slices.IndexFunc(r.peers, func(p *StreamConfig) bool { return p.Name == name }); i >= 0 {
		return r.peers[i]
	}
	return nil
}

// badStream is the general refusal of a stream's configuration, 10052.
func badStream(field, why string) *refusal { return refuse(field, 500, 10052, why) }

func checkStreamName(r *streamRequest) *refusal {
	if !r.Version.validName(r.c.Name) {
		if !r.Version.has(&assetNames) {
			return badStream("name", "stream name is required and can not contain '.', '*', '>'")
		}
		return badStream("name", `stream name is required and can not contain '.', '*', '>', '\', '/'`)
	}
	if len(r.c.Name) > maxName {
		return badStream("name", fmt.Sprintf("stream name is too long, maximum allowed is %d", maxName))
	}
	return nil
}

func checkStreamDescription(r *streamRequest) *refusal {
	if len(r.c.Description) > maxDescription {
		return badStream("description", fmt.Sprintf("stream description is too long, maximum allowed is %d", maxDescription))
	}
	return nil
}

func checkStreamMetadata(r *streamRequest) *refusal {
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
	if r.c.Replicas == 0 {
		r.c.Replicas = 1
	}
	if r.c.Replicas > maxReplicas {
		return badStream("num_replicas", fmt.Sprintf("maximum replicas is %d", maxReplicas))
	}
	if r.c.Replicas < 0 {
		return refuse("num_replicas", 400, 10133, "replicas count cannot be negative")
	}
	return nil
}

// fillLimits makes -1 of the limits that are none. Before 2.12 values below -1
// are stored as they are.
func fillLimits(r *streamRequest) *refusal {
	c, floor := r.c, r.Version.AtLeast(12)
	unlimited(&c.MaxMsgs, floor)
	unlimited(&c.MaxMsgsPer, floor)
	unlimited(&c.MaxBytes, floor)
	unlimited(&c.MaxMsgSize, floor)
	unlimited(&c.MaxConsumers, floor)
	return nil
}

func unlimited[T int | int32 | int64](limit *T, floor bool) {
	if *limit == 0 || floor && *limit < -1 {
		*limit = -1
	}
}

func checkAge(r *streamRequest) *refusal {
	if r.c.MaxAge < 0 {
		return badStream("max_age", "max age can not be negative")
	}
	return checkAge29(r)
}

func checkAge29(r *streamRequest) *refusal {
	if r.c.MaxAge > 0 && r.c.MaxAge < 100*time.Millisecond {
		return badStream("max_age", "max age needs to be >= 100ms")
	}
	return nil
}

// DefaultDuplicateWindow is the duplicate window of a stream that declares none
// (stream.go:1935 of 2.15.3).
const DefaultDuplicateWindow = 2 * time.Minute

// fillDuplicates gives every stream a window but mirrors and, from 2.14,
// streams with sources.
func fillDuplicates(r *streamRequest) *refusal {
	c := r.c
	if c.Duplicates != 0 || c.Mirror != nil || len(c.Sources) > 0 && r.Version.AtLeast(14) {
		return nil
	}
	c.Duplicates = DefaultDuplicateWindow
	if limit := r.Limits.DuplicateWindow; limit > 0 {
		c.Duplicates = min(c.Duplicates, limit)
	}
	if c.MaxAge != 0 {
		c.Duplicates = min(c.Duplicates, c.MaxAge)
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
	c := r.c
	switch ttl := c.SubjectDeleteMarkerTTL; {
	case ttl < 0:
		return badStream("subject_delete_marker_ttl", r.markerWords()+" TTL must not be negative")
	case ttl == 0:
		return nil
	case !c.AllowMsgTTL && !r.Version.has(&markersSetTTL):
		return badStream("subject_delete_marker_ttl", "subject marker delete cannot be set if message TTLs are disabled")
	case ttl < time.Second:
		return badStream("subject_delete_marker_ttl", r.markerWords()+" TTL must be at least 1 second")
	}
	if !r.Version.has(&markersSetTTL) {
		return nil
	}
	c.AllowMsgTTL = true
	c.fillRollup()
	return nil
}

func (r *streamRequest) markerWords() string {
	if r.Version.has(&markersSetTTL) {
		return "subject delete marker"
	}
	return "subject marker delete"
}

func checkSchedules(r *streamRequest) *refusal {
	if !r.c.AllowMsgSchedules {
		return nil
	}
	if r.c.Discard == DiscardNew && r.Version.has(&schedulesOld) {
		return badStream("allow_msg_schedules", "message scheduling cannot use discard new")
	}
	r.c.fillRollup()
	return nil
}

// fillRollup allows roll-ups, and with them purges.
func (c *StreamConfig) fillRollup() {
	if !c.AllowRollup {
		c.AllowRollup, c.DenyPurge = true, false
	}
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

func checkTransform(r *streamRequest) *refusal {
	t := r.c.SubjectTransform
	if t == nil {
		return nil
	}
	if t.Source != "" && !ValidSubject(t.Source) {
		return refuse("subject_transform", 400, 10155, "stream transform source: invalid subject "+t.Source)
	}
	if err := r.Version.validateMapping(t.Source, t.Destination); err != nil {
		return refuse("subject_transform", 400, 10156, "stream transform: "+err.Error())
	}
	return nil
}

func checkRepublish(r *streamRequest) *refusal {
	if r.c.Republish == nil {
		return nil
	}
	p := *r.c.Republish
	r.c.Republish = &p
	if p.Source == "" {
		p.Source = ">"
	}
	if !r.Version.AtLeast(10) && !slices.ContainsFunc(r.c.Subjects, func(s string) bool { return SubjectsCollide(p.Source, s) }) {
		return badStream("republish", "stream configuration for republish source is not valid subset of subjects")
	}
	if t := r.c.SubjectTransform; r.Version.AtLeast(11) && p.Source == ">" && p.Destination == ">" && t != nil &&
		len(r.c.Subjects) == 1 && r.c.Subjects[0] == t.Source {
		p.Source, p.Destination = t.Destination, t.Destination // follows the transform
	}
	if slices.ContainsFunc(r.c.Subjects, func(s string) bool { return SubjectsCollide(p.Destination, s) }) {
		return badStream("republish", "stream configuration for republish destination forms a cycle")
	}
	if r.Version.newTransform(p.Source, p.Destination) == nil {
		return nil
	}
	if !r.Version.AtLeast(10) {
		return badStream("republish", "stream configuration for republish not valid")
	}
	return badStream("republish", fmt.Sprintf("stream configuration for republish with transform from '%s' to '%s' not valid", p.Source, p.Destination))
}

func checkPlacement(r *streamRequest) *refusal {
	p := r.c.Placement
	if p == nil {
		return nil
	}
	if p.Preferred != "" {
		return badStream("placement", "preferred server not permitted in placement")
	}
	if p.Cluster == "" && p.Tags == nil && r.Version.has(&emptyPlacement) {
		r.c.Placement = nil
	}
	return nil
}

// trimPlacement leaves of no tags what JSON leaves of them: an empty placement,
// which a cluster of 2.11 or 2.12 drops when its stream's leader reads it.
func (b Broker) trimPlacement(c *StreamConfig) {
	p := c.Placement
	if p == nil || p.Tags == nil || len(p.Tags) > 0 {
		return
	}
	c.Placement = &Placement{Cluster: p.Cluster, Preferred: p.Preferred}
	if b.Clustered && b.Version.AtLeast(11) && !b.Version.AtLeast(14) && p.Cluster == "" && p.Preferred == "" {
		c.Placement = nil
	}
}

// validName is the version's rule for names of streams; path separators are
// minded from a patch of 2.12 on (jetstream.go:2891 of 2.15.3).
func (v Version) validName(name string) bool {
	return name != "" && !strings.ContainsAny(name, " \t\r\n\f.*>") && (!v.has(&assetNames) || validAssetName(name))
}
