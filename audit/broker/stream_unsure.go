package broker

import "slices"

// unsure says why nobody can tell what a cluster answers, or "": it depends on
// which server holds the stream. Passed says that the checks let the request
// through.
func (b Broker) unsure(live, next *StreamConfig, create, passed bool) string {
	switch {
	case !b.Clustered:
		return ""
	case next.sourcesItself() && !b.Version.AtLeast(10) && (live != nil || passed):
		return "a cluster of 2.9 looks in several places for the subjects of a stream that sources itself"
	case live != nil && !create && passed && b.moves(live, next) && b.leaderRefuses(live, next):
		return "a cluster takes this for a move, and tells the stream's leader's refusal (10051) or success, whichever comes first"
	case !create || !passed:
		return ""
	case live != nil && len(next.Sources) > 0 && !b.Version.AtLeast(12) && !b.streamTextDiffers(live, next):
		// The meta leader compares what the stream's leader has written into the
		// sources that they share (stream.go setIndexName of 2.10.27).
		return "a cluster before 2.12 that is asked to create a stream with sources again may accept it, refuse it (10058) or not answer, depending on where the stream is"
	case live == nil && next.AllowMsgCounter && next.AllowMsgTTL:
		// Counters are checked before subject_delete_marker_ttl fills in TTLs.
		return "a counter stream with subject_delete_marker_ttl passes the meta leader's check, and may be refused by the stream's own leader (10052)"
	}
	return ""
}

// leaderRefuses says whether the stream's leader can not put the sources or the
// transforms in place.
func (b Broker) leaderRefuses(live, next *StreamConfig) bool {
	return b.newSourcesRefusal(live, next) != nil || b.rerouteRefusal(live, next) != nil
}

func (c *StreamConfig) sourcesItself() bool {
	return slices.ContainsFunc(c.Sources, func(s *Source) bool { return s != nil && s.Name == c.Name })
}
