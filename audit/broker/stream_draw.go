package broker

import "fmt"

// drawRefusal is what a stream that is about to be made is refused for though
// its configuration passed: filters and, in 2.10, transforms (stream.go:957 of
// 2.15.3).
func (b Broker) drawRefusal(c *StreamConfig) *refusal {
	if !b.Version.AtLeast(10) {
		return nil
	}
	if c.Mirror != nil {
		if no := b.Version.drawnRefusal(c.Mirror, "mirror", "subject filter '%s' for the mirror %w", "invalid subject transform source '%s' for the mirror: %w"); no != nil {
			return no
		}
	}
	for _, s := range c.Sources {
		const words = "subject filter '%s' for the source: %w"
		if no := b.Version.drawnRefusal(s, "source", words, words); no != nil {
			return no
		}
	}
	return nil
}

// routeRefusal is about the transform that 2.10 does not check before.
func (b Broker) routeRefusal(c *StreamConfig) *refusal {
	t := c.SubjectTransform
	if t == nil || !b.Version.AtLeast(10) {
		return nil
	}
	if err := b.Version.newTransform(t.Source, t.Destination); err != nil {
		return notCreated("subject_transform", fmt.Errorf("stream subject transform from '%s' to '%s': %w", t.Source, t.Destination, err))
	}
	return nil
}

func (v Version) drawnRefusal(s *Source, what, filterWords, sourceWords string) *refusal {
	field := what
	if what == "source" {
		field = "sources"
	}
	if len(s.SubjectTransforms) == 0 {
		if s.FilterSubject != "" && !ValidSubject(s.FilterSubject) {
			return notCreated(field, fmt.Errorf(filterWords, s.FilterSubject, errBadSubject))
		}
		return nil
	}
	for _, t := range s.SubjectTransforms {
		if t.Source != "" && !ValidSubject(t.Source) {
			return notCreated(field, fmt.Errorf(sourceWords, t.Source, errBadSubject))
		}
		if err := v.newTransform(t.Source, t.Destination); err != nil {
			return notCreated(field, fmt.Errorf("subject transform from '%s' to '%s' for the %s: %w", t.Source, t.Destination, what, err))
		}
	}
	return nil
}

// notCreated is the general refusal of a new stream, 10049.
func notCreated(field string, err error) *refusal { return refuse(field, 500, 10049, err.Error()) }
