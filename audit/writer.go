package audit

// A Writer is who applies a declaration, and so what happens to a field that
// the declaration leaves out.
type Writer string

// The writers.
const (
	// Replace sends the declaration as it is, create or update: nats.go
	// CreateOrUpdateConsumer, the nats CLI with --config, Terraform. A field left
	// out goes to the server's default.
	Replace Writer = "replace"
	// Merge lays the declaration over what is live: NACK, jsm.go, nats.js
	// update. A field left out stays.
	Merge Writer = "merge"
	// Bind uses what is live and never updates it: legacy nats.go PullSubscribe,
	// and NACK with preventUpdate.
	Bind Writer = "bind"
	// Create sends action=create: any textual difference is refused, 10148.
	Create Writer = "create"
)

// Writers lists the writers.
func Writers() []Writer { return []Writer{Replace, Merge, Bind, Create} }
