package readiness

import (
	"fmt"
	"strings"
)

// A Durable names a consumer.
type Durable struct{ Stream, Consumer string }

// ParseDurable reads STREAM/DURABLE.
func ParseDurable(s string) (Durable, error) {
	stream, consumer, ok := strings.Cut(s, "/")
	d := Durable{Stream: stream, Consumer: consumer}
	if !ok {
		return d, fmt.Errorf("%q is not of the form STREAM/DURABLE", s)
	}
	return d, d.check()
}

// String writes the name as ParseDurable reads it.
func (d Durable) String() string { return d.Stream + "/" + d.Consumer }

// check wants names that are one token of a subject each, so that a request is
// about this consumer and no other.
func (d Durable) check() error {
	for _, name := range []string{d.Stream, d.Consumer} {
		if name == "" || strings.ContainsAny(name, ".*>/\\ \t\r\n\f") {
			return fmt.Errorf("%q is not of the form STREAM/DURABLE: %q can not be a name", d, name)
		}
	}
	return nil
}
