package broker_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/natsmig/natsmig/audit/broker"
)

// TestFieldsOfTheServerAndTheClient fails when a new nats-server or nats.go has
// a field that the model does not know: look at what it does to the outcome
// before it is added to the table.
func TestFieldsOfTheServerAndTheClient(t *testing.T) {
	t.Parallel()
	consumer, stream := tableNames(broker.ConsumerFields()), tableNames(broker.StreamFields())
	for _, tt := range []struct {
		name  string
		value any
		table []string
		// lacks are the fields that this type does not have, and more those that
		// the model leaves out: brokers from 2.14 have no templates.
		lacks, more []string
	}{
		{"server.ConsumerConfig", server.ConsumerConfig{}, consumer, nil, nil},
		{"server.StreamConfig", server.StreamConfig{}, stream, nil, nil},
		{"jetstream.ConsumerConfig", jetstream.ConsumerConfig{}, consumer, []string{"direct", "sourcing"}, nil},
		{"jetstream.StreamConfig", jetstream.StreamConfig{}, stream, nil, []string{"template_owner"}},
		{"broker.ConsumerConfig", broker.ConsumerConfig{}, consumer, nil, nil},
		{"broker.StreamConfig", broker.StreamConfig{}, stream, nil, nil},
	} {
		want := slices.DeleteFunc(slices.Clone(tt.table), func(n string) bool { return slices.Contains(tt.lacks, n) })
		want = slices.Sorted(slices.Values(append(want, tt.more...)))
		if diff := cmp.Diff(want, jsonNames(tt.value)); diff != "" {
			t.Errorf("the model's table and %s differ:\n%s", tt.name, diff)
		}
	}
}

// TestPartsOfTheServer does so for the objects within a stream.
func TestPartsOfTheServer(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ model, server any }{
		{broker.Placement{}, server.Placement{}},
		{broker.Source{}, server.StreamSource{}},
		{broker.External{}, server.ExternalStream{}},
		{broker.SourceConsumer{}, server.StreamConsumerSource{}},
		{broker.SubjectTransform{}, server.SubjectTransformConfig{}},
		{broker.Republish{}, server.RePublish{}},
		{broker.ConsumerLimits{}, server.StreamConsumerLimits{}},
	} {
		if diff := cmp.Diff(jsonNames(tt.model), jsonNames(tt.server)); diff != "" {
			t.Errorf("%T and %T differ:\n%s", tt.model, tt.server, diff)
		}
	}
}

func tableNames[C any](fields []broker.Field[C]) []string {
	var names []string
	for i := range fields {
		names = append(names, fields[i].Name)
	}
	slices.Sort(names)
	return names
}

func jsonNames(v any) []string {
	var names []string
	typ := reflect.TypeOf(v)
	for field := range typ.Fields() {
		if tag := field.Tag.Get("json"); tag != "" && tag != "-" {
			name, _, _ := strings.Cut(tag, ",")
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
