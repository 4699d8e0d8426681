package broker

import "strings"

// requestRefusal is what the broker refuses before it looks at the
// configuration (jetstream_api.go:5162 of 2.15.3).
func (b Broker) requestRefusal(stream *Stream, c *ConsumerConfig) *refusal {
	if no := b.subjectRefusal(c); no != nil {
		return no
	}
	if !b.Clustered && c.Replicas > 1 {
		return refuse("num_replicas", 500, 10074, "replicas > 1 not supported in non-clustered mode")
	}
	if stream == nil {
		return refuse("", 404, 10059, "stream not found")
	}
	return nil
}

// subjectRefusal is about the name as a token of the request's subject. What
// follows a dot in it is taken for the filter. A name with white space can not
// be sent at all; the checks of the configuration answer for it.
func (b Broker) subjectRefusal(c *ConsumerConfig) *refusal {
	field := "name"
	if c.Durable != "" {
		field = "durable_name"
	}
	first, rest, dotted := strings.Cut(c.ID(), ".")
	switch {
	case strings.ContainsAny(first, `\/`):
		return refuse(field, 400, 10127, "Consumer name can not contain path separators")
	case !dotted:
		return nil
	case c.Durable != "":
		return refuse(field, 400, 10017, "consumer name in subject does not match durable name in request")
	case len(c.FilterSubjects) > 0:
		return refuse("filter_subjects", 400, 10137, "consumer with multiple subject filters cannot use subject based API")
	case c.FilterSubject != rest:
		return refuse(field, 400, 10131, "Consumer create request did not match filtered subject from create subject")
	}
	return nil
}

func (c *ConsumerConfig) mismatched() bool {
	return c.Durable != "" && c.Name != "" && c.Name != c.Durable
}

// honorName gives the consumer the name that stands in the request's subject.
// Older endpoints for durables leave the name alone, and the check of
// the configuration finds the mismatch.
func (b Broker) honorName(c *ConsumerConfig) {
	if id := c.ID(); id != "" && (b.Version.has(&subjectsName) || !c.mismatched()) {
		c.Name = id
	}
}
