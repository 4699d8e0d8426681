package broker

import "slices"

// checkMirror refuses what a mirror can not be besides (stream.go
// checkStreamCfgLocked of 2.15.3).
func checkMirror(r *streamRequest) *refusal {
	c := r.c
	if c.Mirror == nil {
		return nil
	}
	switch {
	case c.FirstSeq > 0:
		return refuse("first_seq", 400, 10143, "stream mirrors can not have first sequence configured")
	case len(c.Subjects) > 0:
		return refuse("subjects", 400, 10034, "stream mirrors can not contain subjects")
	case len(c.Sources) > 0:
		return refuse("sources", 400, 10031, "stream mirrors can not also contain other sources")
	case c.AllowMsgCounter:
		return refuse("allow_msg_counter", 400, 10173, "stream mirrors can not also calculate counters")
	case c.AllowAtomicPublish:
		return refuse("allow_atomic", 400, 10198, "stream mirrors can not also use atomic publishing")
	case c.AllowBatchPublish:
		return refuse("allow_batched", 400, 10209, "stream mirrors can not also use batch publishing")
	case c.AllowMsgSchedules:
		return refuse("allow_msg_schedules", 400, 10186, "stream mirrors can not also schedule messages")
	case !c.Mirror.validConsumer():
		return refuse("mirror", 400, 10213, "stream mirror consumer config is invalid")
	case c.Mirror.FilterSubject != "" && len(c.Mirror.SubjectTransforms) > 0:
		return refuse("mirror", 400, 10150, "mirror with multiple subject transforms cannot also have a single subject filter")
	case c.SubjectDeleteMarkerTTL > 0:
		return badStream("subject_delete_marker_ttl", "subject delete markers forbidden on mirrors")
	case overlappingTransforms(c.Mirror.SubjectTransforms):
		return refuse("mirror", 400, 10152, "mirror subject filters can not overlap")
	case c.Mirror.External == nil && !validAssetName(c.Mirror.Name):
		return refuse("mirror", 400, 10142, "mirrored stream name is invalid")
	case r.smallerThan(c.Mirror):
		return refuse("max_msg_size", 400, 10030, "stream mirror must have max message size >= source")
	case c.Mirror.Name == c.Name && c.Mirror.External == nil:
		return badStream("mirror", "detected cycle")
	}
	return nil
}

func checkSources(r *streamRequest) *refusal {
	c := r.c
	if len(c.Sources) > 0 && c.AllowMsgSchedules {
		return refuse("allow_msg_schedules", 400, 10187, "stream source can not also schedule messages")
	}
	for i, s := range c.Sources {
		switch {
		case s == nil || !validAssetName(s.Name):
			return refuse("sources", 400, 10141, "sourced stream name is invalid")
		case slices.ContainsFunc(c.Sources[:i], func(o *Source) bool { return o.key() == s.key() }):
			return refuse("sources", 400, 10140, "duplicate source configuration detected")
		case s.FilterSubject != "" && len(s.SubjectTransforms) > 0:
			return refuse("sources", 400, 10144, "source with multiple subject transforms cannot also have a single subject filter")
		case overlappingTransforms(s.SubjectTransforms):
			return refuse("sources", 400, 10147, "source filters can not overlap")
		case !s.validConsumer():
			return refuse("sources", 400, 10215, "stream source consumer config is invalid")
		case r.smallerThan(s):
			return refuse("max_msg_size", 400, 10046, "stream source must have max message size >= target")
		case s.Name == c.Name && s.External == nil && overlapsFilter(c.Subjects, s.FilterSubject):
			return badStream("sources", "detected cycle")
		}
	}
	return nil
}

func (s *Source) validConsumer() bool {
	k := s.Consumer
	return k == nil || validAssetName(k.Name) &&
		literalSubject(k.DeliverSubject) && ValidSubject(k.DeliverSubject) &&
		s.OptStartSeq == 0 && s.OptStartTime == nil && s.FilterSubject == ""
}

func overlappingTransforms(ts []SubjectTransform) bool {
	for i, a := range ts {
		for _, b := range ts[i+1:] {
			if SubjectsCollide(a.Source, b.Source) {
				return true
			}
		}
	}
	return false
}

func overlapsFilter(subjects []string, filter string) bool {
	return filter == "" || slices.ContainsFunc(subjects, func(s string) bool { return SubjectsCollide(s, filter) })
}

// smallerThan says whether messages of s may be too large for the stream.
func (r *streamRequest) smallerThan(s *Source) bool {
	if s.External != nil || r.c.MaxMsgSize <= 0 {
		return false
	}
	return slices.ContainsFunc(r.peers, func(p *StreamConfig) bool {
		return p.Name == s.Name && p.MaxMsgSize > r.c.MaxMsgSize
	})
}
