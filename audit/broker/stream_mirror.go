package broker

import (
	"fmt"
	"slices"
)

// checkMirror29 is what 2.9 asks of a mirror.
func checkMirror29(r *streamRequest) *refusal {
	m := r.c.Mirror
	if m == nil {
		return nil
	}
	if no := mirrorCompany(r.c); no != nil {
		return no
	}
	return r.mirrorOrigin(m)
}

func mirrorCompany(c *StreamConfig) *refusal {
	switch {
	case len(c.Subjects) > 0:
		return refuse("subjects", 400, 10034, "stream mirrors can not contain subjects")
	case len(c.Sources) > 0:
		return refuse("sources", 400, 10031, "stream mirrors can not also contain other sources")
	}
	return nil
}

// checkMirror refuses what a mirror can not be besides (stream.go:2170 of
// 2.15.3). Settings that a line does not know are dropped by then.
func checkMirror(r *streamRequest) *refusal {
	c := r.c
	if c.Mirror == nil {
		return nil
	}
	if c.FirstSeq > 0 {
		return refuse("first_seq", 400, 10143, "stream mirrors can not have first sequence configured")
	}
	if no := mirrorCompany(c); no != nil {
		return no
	}
	switch {
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
	}
	if no := r.mirrorTransforms(c.Mirror.SubjectTransforms); no != nil {
		return no
	}
	if c.Mirror.External == nil && !r.Version.validName(c.Mirror.Name) {
		return refuse("mirror", 400, 10142, "mirrored stream name is invalid")
	}
	return r.mirrorOrigin(c.Mirror)
}

func (r *streamRequest) mirrorTransforms(all []SubjectTransform) *refusal {
	for i, t := range all {
		if no := r.transformSource("mirror", 10151, "mirror subject filter is invalid", t.Source); no != nil {
			return no
		}
		if err := r.Version.validateMapping(t.Source, t.Destination); err != nil && r.Version.AtLeast(11) {
			return refuse("mirror", 400, 10154, "mirror transform: "+err.Error())
		}
		for j, o := range all {
			if i != j && SubjectsCollide(t.Source, o.Source) {
				return refuse("mirror", 400, 10152, "mirror subject filters can not overlap")
			}
		}
	}
	return nil
}

// transformSource is about the subject that a transform takes. 2.10 says so
// without the reason, and takes none for a mistake.
func (r *streamRequest) transformSource(what string, code int, words10, src string) *refusal {
	field := what
	if what == "source" {
		field = "sources"
	}
	switch {
	case !r.Version.AtLeast(11) && !ValidSubject(src):
		return refuse(field, 400, code, words10)
	case src != "" && !ValidSubject(src):
		return refuse(field, 400, code, what+" transform source: invalid subject "+src)
	}
	return nil
}

// mirrorOrigin compares a mirror with the stream that it reads, where that is of
// the same account and there.
func (r *streamRequest) mirrorOrigin(m *Source) *refusal {
	origin := r.peer(m.Name)
	if m.External != nil || origin == nil {
		return nil
	}
	if r.smallerThan(origin) {
		return refuse("max_msg_size", 400, 10030, "stream mirror must have max message size >= source")
	}
	if no := r.filterMeets("mirror", m, origin.Subjects); no != nil {
		return no
	}
	r.c.MirrorDirect = origin.AllowDirect
	return nil
}

// smallerThan says whether the origin's messages may be too large.
func (r *streamRequest) smallerThan(origin *StreamConfig) bool {
	return r.c.MaxMsgSize > 0 && origin.MaxMsgSize > r.c.MaxMsgSize
}

// filterMeets is 2.9's: the filter has to share something with the origin.
func (r *streamRequest) filterMeets(what string, s *Source, subjects []string) *refusal {
	if r.Version.AtLeast(10) || s.FilterSubject == "" || len(subjects) == 0 ||
		slices.ContainsFunc(subjects, func(o string) bool { return SubjectsCollide(o, s.FilterSubject) }) {
		return nil
	}
	field := what
	if what == "source" {
		field = "sources"
	}
	return badStream(field, fmt.Sprintf("%s '%s' filter subject '%s' does not overlap with any origin stream subject", what, s.Name, s.FilterSubject))
}
