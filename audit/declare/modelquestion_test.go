package declare_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/natsmig/natsmig/audit/broker"
)

// A doc is a JSON object.
type doc map[string]json.RawMessage

// with lays the members of o over d; a null takes a member away.
func (d doc) with(o doc) doc {
	next := maps.Clone(d)
	if next == nil {
		next = doc{}
	}
	for name, value := range o {
		if string(value) == "null" {
			delete(next, name)
		} else {
			next[name] = value
		}
	}
	return next
}

func (d doc) raw() json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // subjects have > in them
	if err := enc.Encode(d); err != nil {
		panic(err) // its values have been read from JSON
	}
	return bytes.TrimSpace(b.Bytes())
}

func (d doc) text(name string) string {
	var s string
	if json.Unmarshal(d[name], &s) != nil {
		return ""
	}
	return s
}

// What a question's documents are laid over. A member that a merging writer
// would send by itself is in them, so that a question is about one field.
var (
	plainStream   = object(`{"name":"S","subjects":["s.>"],"retention":"limits","storage":"file","discard":"old","num_replicas":1}`)
	plainConsumer = object(`{"durable_name":"c","ack_policy":"explicit","deliver_policy":"all","replay_policy":"instant"}`)
)

func object(text string) doc {
	var d doc
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		panic(err)
	}
	return d
}

// A question is one request and all that it meets. The files of testdata/model
// hold one in a line. Documents are laid over the plain ones; a request over
// what is live, where something is. Text such as "45s" stands for nanoseconds,
// "@300" for so many letters.
type question struct {
	Label    string        // what it is about, where that is no field
	Field    string        // the field that it is about
	Stream   doc           // the consumer's stream
	Peers    []doc         // the account's other streams
	Others   []doc         // other consumers of the stream
	Live     doc           // nil: nothing is live
	Then     doc           // an update of what is live, before the request
	Ask      doc           // the request
	Action   broker.Action // see [broker.Action]
	NoStream bool          // the consumer's stream is not there
	Bound    bool          // somebody is subscribed to the deliver subject

	Clustered bool
	Limits    broker.Limits
}

var (
	quotedDuration = regexp.MustCompile(`"-?[0-9.]+(ms|us|s|m|h)"`)
	quotedLength   = regexp.MustCompile(`@[0-9]+"`)
)

// questions reads a file of testdata/model.
func questions(t *testing.T, name string) []question {
	t.Helper()
	data, err := os.ReadFile("testdata/model/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var all []question
	for i, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		line = expand(t, line)
		dec := json.NewDecoder(bytes.NewReader([]byte(line)))
		dec.DisallowUnknownFields()
		var q question
		if err := dec.Decode(&q); err != nil {
			t.Fatalf("%s:%d: %v", name, i+1, err)
		}
		all = append(all, q)
	}
	return all
}

// expand writes out durations and lengths.
func expand(t *testing.T, text string) string {
	t.Helper()
	text = quotedDuration.ReplaceAllStringFunc(text, func(s string) string {
		d, err := time.ParseDuration(strings.Trim(s, `"`))
		if err != nil {
			t.Fatal(err)
		}
		return strconv.FormatInt(int64(d), 10)
	})
	return quotedLength.ReplaceAllStringFunc(text, func(s string) string {
		n, err := strconv.Atoi(strings.Trim(s, `@"`))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Repeat("x", n) + `"`
	})
}

func (q *question) broker(v broker.Version) broker.Broker {
	return broker.Broker{Version: v, Clustered: q.Clustered, Limits: q.Limits}
}

// over is d laid over the base, or over what is live.
func (q *question) over(base, d doc) doc {
	if q.Live != nil {
		base = base.with(q.Live).with(q.Then)
	}
	return base.with(d)
}

// An answered question has what was live, and what the model said.
type answered[C any] struct {
	live     *C
	siblings []broker.Sibling // the consumers of a live stream
	asked    doc
	result   broker.Result[C]
}

// consumer asks a broker of the version about a consumer. It is nil where the
// situation can not be: a line refuses the stream, or what should be live.
func (q *question) consumer(v broker.Version) *answered[broker.ConsumerConfig] {
	b := q.broker(v)
	host := q.host(v)
	if host == nil {
		return nil
	}
	for _, d := range q.Others {
		res := b.Consumer(host, nil, consumerRequest(plainConsumer.with(d), ""))
		if res.Stored == nil {
			return nil
		}
		host.Consumers = append(host.Consumers, broker.Sibling{Name: res.Stored.ID(), Config: res.Stored})
	}
	a := &answered[broker.ConsumerConfig]{asked: q.over(plainConsumer, q.Ask)}
	var live *broker.LiveConsumer
	if q.Live != nil {
		res := b.Consumer(host, nil, consumerRequest(plainConsumer.with(q.Live), ""))
		if res.Stored == nil || len(res.Dropped) > 0 {
			return nil
		}
		a.live, live = res.Stored, &broker.LiveConsumer{Config: res.Stored, Bound: q.Bound}
		host.Consumers = append(host.Consumers, broker.Sibling{Name: res.Stored.ID(), Config: res.Stored})
	}
	if q.NoStream {
		host = nil
	}
	a.result = b.Consumer(host, live, consumerRequest(a.asked, q.Action))
	return a
}

func (q *question) host(v broker.Version) *broker.Stream {
	res := q.broker(v).Stream(nil, nil, nil, streamRequest(plainStream.with(q.Stream), broker.CreateOnly))
	if res.Stored == nil || len(res.Dropped) > 0 {
		return nil
	}
	return &broker.Stream{Config: res.Stored}
}

// stream asks about a stream. It is nil where the situation can not be.
func (q *question) stream(v broker.Version) *answered[broker.StreamConfig] {
	b := q.broker(v)
	var peers []*broker.StreamConfig
	for _, d := range q.Peers {
		res := b.Stream(nil, peers, nil, streamRequest(plainStream.with(d), broker.CreateOnly))
		if res.Stored == nil {
			return nil
		}
		peers = append(peers, res.Stored)
	}
	a := &answered[broker.StreamConfig]{asked: q.over(plainStream, q.Ask)}
	if q.Live != nil {
		res := b.Stream(nil, peers, nil, streamRequest(plainStream.with(q.Live), broker.CreateOnly))
		if q.Then != nil && res.Stored != nil {
			res = b.Stream(res.Stored, peers, nil, streamRequest(plainStream.with(q.Live).with(q.Then), broker.UpdateOnly))
		}
		if res.Stored == nil || res.Outcome == broker.Reject || len(res.Dropped) > 0 {
			return nil
		}
		a.live = res.Stored
		host := &broker.Stream{Config: res.Stored}
		for _, d := range q.Others {
			res := b.Consumer(host, nil, consumerRequest(plainConsumer.with(d), ""))
			if res.Stored == nil {
				return nil
			}
			a.siblings = append(a.siblings, broker.Sibling{Name: res.Stored.ID(), Config: res.Stored})
		}
	}
	a.result = b.Stream(a.live, peers, a.siblings, streamRequest(a.asked, q.Action))
	return a
}

func consumerRequest(d doc, action broker.Action) *broker.ConsumerRequest {
	req, err := broker.ReadConsumerRequest(d.raw())
	if err != nil {
		panic(err)
	}
	req.Action = action
	return req
}

func streamRequest(d doc, action broker.Action) *broker.StreamRequest {
	req, err := broker.ReadStreamRequest(d.raw())
	if err != nil {
		panic(err)
	}
	req.Action = action
	return req
}

// A reply is what the model says to a question, in one form for consumers and
// streams.
type reply struct {
	outcome broker.Outcome
	err     *broker.APIError
	field   string // the field that a refusal is about
	dropped []string
	stored  string // the value of the question's own field afterwards
}

// ask asks about a stream, or else about a consumer. Nil: the situation can not
// be on that line.
func (q *question) ask(stream bool, v broker.Version) *reply {
	if stream {
		if a := q.stream(v); a != nil {
			return newReply(q, a, broker.StreamFields())
		}
	} else if a := q.consumer(v); a != nil {
		return newReply(q, a, broker.ConsumerFields())
	}
	return nil
}

func newReply[C any](q *question, a *answered[C], fields []broker.Field[C]) *reply {
	r := &reply{outcome: a.result.Outcome, err: a.result.Error, dropped: a.result.Dropped}
	if r.err != nil && len(a.result.Refused) > 0 {
		r.field = a.result.Refused[0]
	}
	if q.Field != "" && r.err == nil {
		r.stored = showField(fields, q.Field, a.result.Stored)
	}
	return r
}

// String is the question in short, for a test's complaint.
func (q *question) String() string {
	return fmt.Sprintf("%s live %s ask %s", q.Field, q.Live.raw(), q.Ask.raw())
}
