package broker

import (
	"fmt"
	"slices"
)

// fillSubjects gives a stream that names no subjects and draws from nowhere its
// own name.
func (c *StreamConfig) fillSubjects() {
	if len(c.Subjects) == 0 && c.Mirror == nil && len(c.Sources) == 0 {
		c.Subjects = []string{c.Name}
	}
}

func checkSubjects(r *streamRequest) *refusal {
	c := r.c
	c.fillSubjects()
	if !r.Version.has(&systemNoAck) {
		return checkOldSubjects(r)
	}
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
			if no := r.reservedSubject(s); no != nil {
				return no
			}
		}
		if r.Version.has(&overlapsFirst) {
			if no := overlapRefusal(s, c.Subjects[i+1:]); no != nil {
				return no
			}
		}
	}
	return nil
}

func overlapRefusal(s string, others []string) *refusal {
	for _, o := range others {
		if SubjectsCollide(o, s) {
			return badStream("subjects", fmt.Sprintf("subject %q overlaps with %q", s, o))
		}
	}
	return nil
}

// checkOverlaps is a step of its own on older brokers.
func checkOverlaps(r *streamRequest) *refusal {
	for _, s := range r.c.Subjects {
		others := slices.DeleteFunc(slices.Clone(r.c.Subjects), func(o string) bool { return o == s })
		if no := overlapRefusal(s, others); no != nil {
			return no
		}
	}
	return nil
}

// reservedSubject refuses the broker's own subjects. On older
// brokers a wildcard around them slips past.
func (r *streamRequest) reservedSubject(s string) *refusal {
	touches, spaces := SubjectsCollide, []string{"$JS.>", "$JSC.>", "$NRG.>"}
	if !r.Version.has(&wideReserved) {
		touches, spaces = SubjectWithin, spaces[:2]
	}
	for _, space := range spaces {
		if touches(s, space) && !SubjectWithin(s, "$JS.EVENT.>") {
			return badStream("subjects", "subjects that overlap with jetstream api require no-ack to be true")
		}
	}
	if touches(s, "$SYS.>") && !SubjectWithin(s, "$SYS.ACCOUNT.>") {
		return badStream("subjects", "subjects that overlap with system api require no-ack to be true")
	}
	return nil
}

func checkOldSubjects(r *streamRequest) *refusal {
	c := r.c
	for i, s := range c.Subjects {
		switch {
		case slices.Contains(c.Subjects[:i], s):
			return badStream("subjects", "duplicate subjects detected")
		case SubjectWithin(s, "$JS.API.>"):
			return badStream("subjects", "subjects overlap with jetstream api")
		case !ValidSubject(s):
			return badStream("subjects", "invalid subject")
		}
	}
	return nil
}
