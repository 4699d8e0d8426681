package tracing

import (
	"maps"
	"slices"
	"strings"

	"github.com/nats-io/nats.go"
)

// Carrier carries a context in the headers of a message. Names of headers are told
// apart by case in NATS; Get finds one in any case, for producers that wrote it as
// HTTP does.
type Carrier nats.Header

// Get is the first value of a header, empty if there is none.
func (c Carrier) Get(key string) string {
	if values := c[key]; len(values) > 0 {
		return values[0]
	}
	for _, name := range c.Keys() {
		if values := c[name]; strings.EqualFold(name, key) && len(values) > 0 {
			return values[0]
		}
	}
	return ""
}

// Set sets a header, whose map must not be nil.
func (c Carrier) Set(key, value string) { c[key] = []string{value} }

// Keys are the names of all headers, sorted.
func (c Carrier) Keys() []string { return slices.Sorted(maps.Keys(c)) }
