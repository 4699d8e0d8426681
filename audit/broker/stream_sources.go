package broker

import (
	"fmt"
	"slices"
)

// checkSources29 is what 2.9 asks of sources.
func checkSources29(r *streamRequest) *refusal {
	var subjects []string
	for _, s := range r.c.Sources {
		if s == nil {
			continue // the broker falls over
		}
		origin := r.peer(s.Name)
		if s.External != nil || origin == nil {
			continue
		}
		subjects = append(subjects, origin.Subjects...)
		if r.smallerThan(origin) {
			return sourceSizeRefusal()
		}
		if no := r.filterMeets("source", s, subjects); no != nil {
			return no
		}
	}
	return nil
}

func sourceSizeRefusal() *refusal {
	return refuse("max_msg_size", 400, 10046, "stream source must have max message size >= target")
}

// checkSources is of stream.go:2274 of 2.15.3. Before 2.12 the size comes
// before the transforms, and neither is looked at where the source is external.
func checkSources(r *streamRequest) *refusal {
	c := r.c
	if len(c.Sources) > 0 && c.AllowMsgSchedules {
		return refuse("allow_msg_schedules", 400, 10187, "stream source can not also schedule messages")
	}
	for i, s := range c.Sources {
		if s == nil || !r.Version.validName(s.Name) {
			return refuse("sources", 400, 10141, "sourced stream name is invalid")
		}
		if slices.ContainsFunc(c.Sources[:i], func(o *Source) bool { return o.key() == s.key() }) {
			return refuse("sources", 400, 10140, "duplicate source configuration detected")
		}
		checks := []func(*Source) *refusal{r.sourceTransforms, r.sourceConsumer(c.Sources[:i]), r.sourceSize}
		if !r.Version.has(&sourcesWhole) {
			checks = []func(*Source) *refusal{r.sourceSize, r.sourceTransforms}
			if s.External != nil {
				checks = nil
			}
		}
		for _, check := range checks {
			if no := check(s); no != nil {
				return no
			}
		}
	}
	return nil
}

func (r *streamRequest) sourceSize(s *Source) *refusal {
	if origin := r.peer(s.Name); s.External == nil && origin != nil && r.smallerThan(origin) {
		return sourceSizeRefusal()
	}
	return nil
}

func (r *streamRequest) sourceTransforms(s *Source) *refusal {
	if s.FilterSubject != "" && len(s.SubjectTransforms) > 0 {
		return refuse("sources", 400, 10144, "source with multiple subject transforms cannot also have a single subject filter")
	}
	for _, t := range s.SubjectTransforms {
		if r.Version.AtLeast(11) {
			if no := r.transformSource("source", 10145, "", t.Source); no != nil {
				return no
			}
		}
		if err := r.Version.validateMapping(t.Source, t.Destination); err != nil {
			if !r.Version.AtLeast(11) {
				return refuse("sources", 400, 10146, "source transform destination is invalid")
			}
			return refuse("sources", 400, 10146, "source transform: "+err.Error())
		}
	}
	for i, t := range s.SubjectTransforms {
		if !r.Version.AtLeast(11) {
			if no := r.transformSource("source", 10145, "source subject filter is invalid", t.Source); no != nil {
				return no
			}
		}
		for j, o := range s.SubjectTransforms {
			if i != j && SubjectWithin(t.Source, o.Source) {
				return refuse("sources", 400, 10147, "source filters can not overlap")
			}
		}
	}
	return nil
}

func (r *streamRequest) sourceConsumer(before []*Source) func(*Source) *refusal {
	return func(s *Source) *refusal {
		if !s.validConsumer() {
			return refuse("sources", 400, 10215, "stream source consumer config is invalid")
		}
		if s.Consumer != nil && slices.ContainsFunc(before, func(o *Source) bool { return o.Consumer != nil && o.consumerKey() == s.consumerKey() }) {
			return refuse("sources", 400, 10216, "duplicate stream source consumer detected")
		}
		return nil
	}
}

func (s *Source) validConsumer() bool {
	k := s.Consumer
	return k == nil || validAssetName(k.Name) &&
		literalSubject(k.DeliverSubject) && ValidSubject(k.DeliverSubject) &&
		s.OptStartSeq == 0 && s.OptStartTime == nil && s.FilterSubject == ""
}

// checkPrefixes is about other domains and accounts (stream.go:2360 of 2.15.3).
func checkPrefixes(r *streamRequest) *refusal {
	var subjects []string
	drawn := r.c.origins() // a mirror with sources has been refused
	for _, s := range drawn {
		if origin := r.peer(s.Name); s.External == nil && origin != nil {
			subjects = append(subjects, origin.Subjects...)
		}
	}
	for _, check := range []func(*External, []string) *refusal{deliverPrefixRefusal, apiPrefixRefusal} {
		for _, s := range drawn {
			if s.External == nil {
				continue
			}
			if no := check(s.External, subjects); no != nil {
				return no
			}
		}
	}
	return nil
}

func deliverPrefixRefusal(x *External, subjects []string) *refusal {
	p := x.DeliverPrefix
	if p == "" {
		return nil
	}
	if !ValidSubject(p) || !literalSubject(p) {
		return refuse("sources", 400, 10024, fmt.Sprintf("stream external delivery prefix %s must not contain wildcards", p))
	}
	for _, s := range subjects {
		if SubjectsCollide(s, p+"."+s) {
			return refuse("sources", 400, 10022, fmt.Sprintf("stream external delivery prefix %s overlaps with stream subject %s", p, s))
		}
	}
	return nil
}

func apiPrefixRefusal(x *External, _ []string) *refusal {
	switch p := x.APIPrefix; {
	case p == "":
	case !ValidSubject(p) || !literalSubject(p):
		return badStream("sources", fmt.Sprintf("stream external api prefix %q must be a valid subject without wildcards", p))
	case SubjectsCollide(p, "$JS.API"):
		return refuse("sources", 400, 10021, fmt.Sprintf("stream external api prefix %s must not overlap with $JS.API", p))
	}
	return nil
}

// checkCycles follows sources and mirrors through the account (stream.go:2382 of
// 2.15.3).
func checkCycles(r *streamRequest) *refusal {
	visited := map[string]bool{}
	for queue := []*StreamConfig{r.c}; len(queue) > 0; {
		c := queue[0]
		queue = queue[1:]
		visited[c.Name] = true
		for _, s := range c.Sources {
			if s == nil {
				continue
			}
			switch origin := r.peer(s.Name); {
			case s.External != nil:
			case visited[s.Name] && overlapsFilter(c.Subjects, s.FilterSubject):
				return badStream("sources", "detected cycle")
			case !visited[s.Name] && origin != nil:
				queue = append(queue, origin)
			}
		}
		if m := c.Mirror; m != nil && m.External == nil {
			if visited[m.Name] {
				return badStream("mirror", "detected cycle")
			}
			if origin := r.peer(m.Name); origin != nil {
				queue = append(queue, origin)
			}
		}
	}
	return nil
}

func overlapsFilter(subjects []string, filter string) bool {
	return filter == "" || slices.ContainsFunc(subjects, func(s string) bool { return SubjectsCollide(s, filter) })
}
