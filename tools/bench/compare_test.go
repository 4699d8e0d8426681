package bench

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/natsmig/natsmig/audit"
	"github.com/natsmig/natsmig/audit/broker"
)

// pairs is how many declared and live consumers BenchmarkCompare has.
const pairs = 100_000

// BenchmarkCompare compares 100,000 declarations with what is live, on one core:
// nine in ten are as they are, eight in a hundred would be updated, and two
// refused.
func BenchmarkCompare(b *testing.B) {
	fleet, declarations := comparison(b)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	b.ReportAllocs()
	runtime.GC()
	before := cpuTime(b)
	for b.Loop() {
		r, err := audit.Compare(fleet, declarations, audit.Options{Now: time.Now()})
		must(b, err)
		if s := r.Summary; s.Consumers != pairs || s.Noop != pairs*90/100 || s.Update != pairs*8/100 || s.Reject != pairs*2/100 {
			b.Fatalf("summary %+v", s)
		}
	}
	b.ReportMetric(float64(b.N*pairs)/b.Elapsed().Seconds(), "pairs/s")
	b.ReportMetric(float64(b.N*pairs)/(cpuTime(b)-before).Seconds(), "pairs/cpu-s")
}

// cpuTime is what this process has used of the processors, which neighbors on
// the machine do not change as they do the clock's time.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var r syscall.Rusage
	must(b, syscall.Getrusage(syscall.RUSAGE_SELF, &r))
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

func comparison(b *testing.B) (*audit.Fleet, []*audit.Declaration) {
	b.Helper()
	var cell strings.Builder
	cell.WriteString(`{"schema": "natsmig.snapshot.v1", "cells": [{"name": "prod", "broker_version": "2.14.4", "streams": [`)
	declarations := make([]*audit.Declaration, 0, pairs)
	for i := range pairs / 100 {
		if i > 0 {
			cell.WriteByte(',')
		}
		stream := fmt.Sprintf("orders_%04d", i)
		fmt.Fprintf(&cell, `{"config": {"name": %q, "subjects": ["%s.>"], "retention": "limits", "num_replicas": 1, "max_age": 345600000000000}, "state": {"messages": 10, "last_seq": 10, "consumer_count": 100}, "consumers": [`, stream, stream)
		for k := range 100 {
			if k > 0 {
				cell.WriteByte(',')
			}
			live := liveConfig(stream, k)
			raw, err := json.Marshal(live)
			must(b, err)
			fmt.Fprintf(&cell, `{"stream_name": %q, "name": %q, "config": %s, "delivered": {"consumer_seq": 10, "stream_seq": 10}, "ack_floor": {"consumer_seq": 10, "stream_seq": 10}}`, stream, live["name"], raw)
			d, err := audit.DeclareConsumer(stream, declaredConfig(live, k))
			must(b, err)
			declarations = append(declarations, d)
		}
		cell.WriteString(`]}`)
	}
	cell.WriteString(`]}]}`)
	snap, err := audit.ReadSnapshot("fleet.json", []byte(cell.String()))
	must(b, err)
	fleet, err := audit.Index(snap, broker.Version{})
	must(b, err)
	return fleet, declarations
}

type config map[string]any

func liveConfig(stream string, k int) config {
	name := fmt.Sprintf("worker-%03d", k)
	return config{
		"durable_name": name, "name": name, "description": "charges the card of an order", "deliver_policy": "all",
		"ack_policy": "explicit", "ack_wait": 30 * time.Second, "max_deliver": 6, "replay_policy": "instant",
		"backoff":        []time.Duration{30 * time.Second, 2 * time.Minute, 5 * time.Minute},
		"filter_subject": fmt.Sprintf("%s.region-%03d.>", stream, k), "max_waiting": 512, "max_ack_pending": 1000, "num_replicas": 0,
		"inactive_threshold": 72 * time.Hour,
		"metadata":           map[string]string{"_nats.ver": "2.14.4", "_nats.level": "3", "_nats.req.level": "0", "team": "orders"},
	}
}

// declaredConfig is what a team writes down, which is not all that a broker
// stores.
func declaredConfig(live config, k int) json.RawMessage {
	d := config{"metadata": map[string]string{"team": "orders"}}
	for _, key := range []string{"durable_name", "description", "ack_policy", "max_deliver", "backoff", "filter_subject", "inactive_threshold"} {
		d[key] = live[key]
	}
	switch {
	case k < 5:
		d["backoff"] = []time.Duration{30 * time.Second, time.Minute}
	case k < 8:
		d["max_ack_pending"] = 500
	case k < 10:
		d["ack_policy"] = "none"
		delete(d, "backoff")
		delete(d, "max_deliver")
	}
	raw, err := json.Marshal(d)
	if err != nil {
		panic(err) // of a literal
	}
	return raw
}
