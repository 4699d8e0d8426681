package broker

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// ErrUnsendable says that a name can not stand in the subject of a request, so
// that no broker ever sees it.
var ErrUnsendable = errors.New("the name can not stand in a subject")

// ReadConsumerRequest is the request to store a configuration of the API's own
// JSON. Errors are as with [DecodeConsumer].
func ReadConsumerRequest(config json.RawMessage) (*ConsumerRequest, error) {
	d, err := DecodeConsumer(config)
	if err != nil {
		return nil, err
	}
	return &ConsumerRequest{Config: d.Config, Err: d.Err, Bad: d.Bad, Unknown: d.Unknown, Fields: d.Fields, Raw: config}, nil
}

// ReadStreamRequest is [ReadConsumerRequest] for a stream.
func ReadStreamRequest(config json.RawMessage) (*StreamRequest, error) {
	d, err := DecodeStream(config)
	if err != nil {
		return nil, err
	}
	return &StreamRequest{Config: d.Config, Err: d.Err, Bad: d.Bad, Unknown: d.Unknown, Fields: d.Fields, Inner: d.Inner, Raw: config}, nil
}

// Subject is where the request goes, without the API's prefix:
// CONSUMER.CREATE.<stream>.<ID>. Where durable_name and name are two, it is the
// endpoint that compares them, CONSUMER.DURABLE.CREATE.<stream>.<durable_name>.
// The error is [ErrUnsendable].
func (req *ConsumerRequest) Subject(stream string) (string, error) {
	c := &req.Config
	id := c.ID()
	if c.mismatched() {
		if strings.Contains(id, ".") { // nobody listens there
			return "", fmt.Errorf("consumer %q: %w", id, ErrUnsendable)
		}
		return subject("CONSUMER.DURABLE.CREATE", stream, id)
	}
	return subject("CONSUMER.CREATE", stream, id)
}

// subject ends in names. They hold no white space and no empty token.
func subject(verb string, names ...string) (string, error) {
	for _, n := range names {
		if strings.ContainsAny(n, " \t\r\n\f") || n == "" || strings.HasPrefix(n, ".") || strings.HasSuffix(n, ".") || strings.Contains(n, "..") {
			return "", fmt.Errorf("%q: %w", n, ErrUnsendable)
		}
	}
	return verb + "." + strings.Join(names, "."), nil
}

// Body is what the request carries. The error is json.Marshal's.
func (req *ConsumerRequest) Body(stream string) ([]byte, error) {
	config, err := wire(req.Raw, consumerFields, &req.Config)
	if err != nil {
		return nil, err
	}
	name, err := json.Marshal(stream)
	if err != nil {
		return nil, err
	}
	// json.Marshal would escape the configuration anew, and a broker compares
	// some values as they are written.
	return fmt.Appendf(nil, `{"stream_name":%s,"config":%s,"action":%q}`, name, config, req.Action), nil
}

// Subject is where the request goes, without the API's prefix:
// STREAM.CREATE.<name> or STREAM.UPDATE.<name>. Exists says whether the broker
// has such a stream. The error is [ErrUnsendable].
func (req *StreamRequest) Subject(exists bool) (string, error) {
	if strings.Contains(req.Config.Name, ".") { // nobody listens there
		return "", fmt.Errorf("stream %q: %w", req.Config.Name, ErrUnsendable)
	}
	if req.creates(exists) {
		return subject("STREAM.CREATE", req.Config.Name)
	}
	return subject("STREAM.UPDATE", req.Config.Name)
}

func (req *StreamRequest) creates(exists bool) bool {
	return req.Action == CreateOnly || req.Action == CreateOrUpdate && !exists
}

// Body is what the request carries. The error is json.Marshal's.
func (req *StreamRequest) Body() ([]byte, error) { return wire(req.Raw, streamFields, &req.Config) }

func wire[C any](raw json.RawMessage, fields []Field[C], config *C) (json.RawMessage, error) {
	if len(raw) > 0 {
		return raw, nil
	}
	return Members(fields, config).JSON()
}

// An Object is a configuration by the wire names of its fields.
type Object map[string]any

// Members is the configuration without the fields that are left out, and without
// the metadata that the server owns.
func Members[C any](fields []Field[C], config *C) Object {
	o := Object{}
	for i := range fields {
		if v := fields[i].Get(config); v != nil {
			o[fields[i].Name] = v
		}
	}
	return o
}

// JSON writes the object as it is sent. The error is that of encoding/json.
func (o Object) JSON() (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // subjects have > in them
	if err := enc.Encode(o); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(b.Bytes()), nil
}
