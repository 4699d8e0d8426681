package rehearse_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/natsmig/natsmig/audit"
	"github.com/natsmig/natsmig/audit/broker"
	"github.com/natsmig/natsmig/audit/rehearse"
)

// TestWorkQueue has consumers that decide about each other, and two live ones
// that only an update can have made.
func TestWorkQueue(t *testing.T) {
	t.Parallel()
	w := (&world{}).stream(`{"name": "JOBS", "subjects": ["jobs.>"], "retention": "workqueue", "num_replicas": 1}`,
		`{"durable_name": "a", "ack_policy": "explicit", "filter_subject": "jobs.a"}`,
		`{"durable_name": "b", "ack_policy": "explicit", "filter_subject": "jobs.b"}`)
	w.declare(t, audit.Replace, "JOBS", `{"durable_name": "a", "ack_policy": "explicit", "filter_subject": "jobs.c"}`)
	w.declare(t, audit.Replace, "JOBS", `{"durable_name": "b", "ack_policy": "explicit", "filter_subject": "jobs.a"}`)
	w.declare(t, audit.Replace, "JOBS", `{"durable_name": "c", "ack_policy": "explicit", "filter_subject": "jobs.c"}`)
	w.declare(t, audit.Replace, "JOBS", `{"durable_name": "d", "ack_policy": "explicit", "filter_subject": "jobs.c"}`)
	const shared = " reject filtered consumer not unique on workqueue stream (10100)"
	agreeing(t, w.run(t, rehearse.Options{}), "JOBS/a: update", "JOBS/b:"+shared, "JOBS/c: create", "JOBS/d: create")
}

func TestWorkQueueThatAnUpdateMade(t *testing.T) {
	t.Parallel()
	w := (&world{}).stream(`{"name": "JOBS", "subjects": ["jobs.>"], "retention": "workqueue", "num_replicas": 1}`,
		`{"durable_name": "a", "ack_policy": "explicit"}`,
		`{"durable_name": "b", "ack_policy": "explicit", "filter_subject": "jobs.b"}`)
	w.declare(t, audit.Replace, "JOBS", `{"durable_name": "b", "ack_policy": "explicit", "max_deliver": 3}`)
	w.declare(t, audit.Replace, "JOBS", `{"durable_name": "c", "ack_policy": "explicit", "filter_subject": "jobs.c"}`)
	w.declare(t, audit.Replace, "JOBS", `{"durable_name": "d", "ack_policy": "explicit", "filter_subject": "jobs.d"}`)
	const shared = " reject filtered consumer not unique on workqueue stream (10100)"
	agreeing(t, w.run(t, rehearse.Options{}), "JOBS/b: update", "JOBS/c:"+shared, "JOBS/d:"+shared)
}

func TestAccountLimits(t *testing.T) {
	t.Parallel()
	w := &world{account: `{"account": "TEAM", "limits": {"max_streams": 2, "max_consumers": 3, "max_ack_pending": 400, "storage_max_stream_bytes": 1000, "max_bytes_required": true}}`}
	w.stream(`{"name": "A", "subjects": ["a"], "retention": "limits", "num_replicas": 1, "max_bytes": 900}`,
		`{"durable_name": "one", "ack_policy": "explicit", "max_ack_pending": 400}`,
		`{"durable_name": "two", "ack_policy": "explicit", "max_ack_pending": 400}`)
	w.stream(`{"name": "FULL", "subjects": ["full"], "retention": "limits", "num_replicas": 1, "max_bytes": 900}`,
		`{"durable_name": "one", "ack_policy": "explicit"}`, `{"durable_name": "two", "ack_policy": "explicit"}`, `{"durable_name": "three", "ack_policy": "explicit"}`)
	w.declareStream(t, audit.Replace, `{"name": "A", "subjects": ["a"], "max_bytes": 2000}`)
	w.declareStream(t, audit.Replace, `{"name": "FULL", "subjects": ["full"]}`)
	w.declareStream(t, audit.Replace, `{"name": "C", "subjects": ["c"], "max_bytes": 1}`)
	w.declare(t, audit.Replace, "A", `{"durable_name": "three", "ack_policy": "explicit", "max_ack_pending": 1000}`)
	w.declare(t, audit.Replace, "A", `{"durable_name": "four", "ack_policy": "explicit"}`)
	w.declare(t, audit.Replace, "A", `{"durable_name": "five", "ack_policy": "explicit"}`)
	w.declare(t, audit.Replace, "FULL", `{"durable_name": "four", "ack_policy": "explicit"}`)
	r := w.run(t, rehearse.Options{})
	agreeing(t, r,
		"A: reject stream max bytes exceeds account limit max stream bytes (10122)",
		"A/five: create", "A/four: create", "A/three: reject consumer max ack pending exceeds system limit of 400 (10121)",
		"C: reject maximum number of streams reached (10027)",
		"FULL: reject account requires a stream config to have max bytes set (10113)",
		"FULL/four: reject maximum consumers limit reached (10026)")
	if a := toJSON(t, r.Entries[1].Broker.After); !strings.Contains(a, `"max_ack_pending": 400`) {
		t.Errorf("the account's limit is not in force:\n%s", a)
	}
}

// TestCluster has a cell that is a cluster, beside one that is not.
func TestCluster(t *testing.T) {
	t.Parallel()
	w := (&world{cluster: "us"}).stream(`{"name": "ORDERS", "subjects": ["orders.>"], "retention": "workqueue", "num_replicas": 3, "placement": {"cluster": "us", "tags": ["ssd"]}}`,
		`{"durable_name": "a", "ack_policy": "explicit", "filter_subject": "orders.a"}`)
	w.declareStream(t, audit.Merge, `{"name": "ORDERS", "max_age": 3600000000000}`)
	w.declare(t, audit.Replace, "ORDERS", `{"durable_name": "a", "ack_policy": "explicit", "max_deliver": 4, "filter_subject": "orders.a"}`)
	w.declare(t, audit.Replace, "ORDERS", `{"durable_name": "b", "ack_policy": "explicit", "filter_subject": "orders.a"}`)
	w.declare(t, audit.Replace, "ORDERS", `{"durable_name": "c", "ack_policy": "explicit", "filter_subject": "orders.c", "num_replicas": 3}`)
	w.declare(t, audit.Create, "ORDERS", `{"durable_name": "d", "ack_policy": "all", "filter_subject": "orders.d"}`)
	w.declareStream(t, audit.Replace, `{"name": "NEW", "subjects": ["new"], "num_replicas": 3, "placement": {"cluster": "us"}}`)
	w.declare(t, audit.Bind, "NEW", `{"durable_name": "a", "ack_policy": "explicit", "num_replicas": 3}`)
	r := w.run(t, rehearse.Options{})
	agreeing(t, r, "NEW: create", "NEW/a: create",
		"ORDERS: update", "ORDERS/a: update",
		"ORDERS/b: reject filtered consumer not unique on workqueue stream (10100)", "ORDERS/c: create",
		"ORDERS/d: reject workqueue stream requires explicit ack (10098)")
	if got := r.Cells[0]; got.Servers != 3 {
		t.Errorf("rebuilt on %d servers, want 3", got.Servers)
	}
	for _, e := range []audit.Rehearsed{r.Entries[0], r.Entries[2]} {
		if notes := strings.Join(e.Notes, "\n"); strings.Count(notes, "without its placement") != 1 {
			t.Errorf("%s: notes %q do not tell of the placement", e.Name(), notes)
		}
	}
}

// TestFiveReplicas takes five servers.
func TestFiveReplicas(t *testing.T) {
	t.Parallel()
	w := (&world{cluster: "us"}).stream(`{"name": "A", "subjects": ["a"], "retention": "limits", "num_replicas": 1}`)
	w.declareStream(t, audit.Replace, `{"name": "A", "subjects": ["a"], "num_replicas": 5}`)
	r := w.run(t, rehearse.Options{})
	agreeing(t, r, "A: update")
	if got := r.Cells[0].Servers; got != 5 {
		t.Errorf("rebuilt on %d servers, want 5", got)
	}
}

// TestWhatOnlyStepsCanMake has a sealed stream, a consumer that goes away by
// itself, and a push consumer that somebody is subscribed to.
func TestWhatOnlyStepsCanMake(t *testing.T) {
	t.Parallel()
	w := (&world{}).stream(`{"name": "OLD", "subjects": ["old"], "retention": "limits", "num_replicas": 1, "discard": "new", "sealed": true, "deny_delete": true, "deny_purge": true}`)
	w.info(`{"config": {"name": "PUSH", "subjects": ["push"], "retention": "limits", "num_replicas": 1}, "consumers": [
		{"push_bound": true, "config": {"durable_name": "heard", "ack_policy": "explicit", "deliver_subject": "d.a", "deliver_group": "g"}},
		{"config": {"durable_name": "unheard", "ack_policy": "explicit", "deliver_subject": "d.b"}},
		{"config": {"name": "brief", "ack_policy": "explicit", "inactive_threshold": 5000000000}}]}`)
	w.declareStream(t, audit.Replace, `{"name": "OLD", "subjects": ["old"]}`)
	for _, c := range []string{
		`{"durable_name": "heard", "ack_policy": "explicit", "deliver_subject": "d.c", "deliver_group": "g"}`,
		`{"durable_name": "unheard", "ack_policy": "explicit", "deliver_subject": "d.c"}`,
		`{"durable_name": "brief", "ack_policy": "explicit"}`,
	} {
		w.declare(t, audit.Replace, "PUSH", c)
	}
	agreeing(t, w.run(t, rehearse.Options{}),
		"OLD: reject stream configuration update can not unseal a sealed stream (10052)",
		"PUSH/brief: update", "PUSH/heard: reject consumer name already in use (10013)", "PUSH/unheard: update")
}

// TestRawRequests sends what a file says, though no type can hold it.
func TestRawRequests(t *testing.T) {
	t.Parallel()
	w := (&world{}).stream(`{"name": "A", "subjects": ["a"], "retention": "limits", "num_replicas": 1}`,
		`{"durable_name": "merged", "ack_policy": "explicit"}`)
	w.declare(t, audit.Replace, "A", `{"durable_name": "bad", "ack_policy": "sometimes"}`)
	w.declare(t, audit.Merge, "A", `{"durable_name": "merged", "ack_policy": "explicit", "future_knob": true}`)
	w.declare(t, audit.Replace, "A", `{"durable_name": "new", "ack_policy": "explicit", "future_knob": {"on": true}}`)
	onEachBroker(t, func(t *testing.T, binary string) {
		r := w.run(t, rehearse.Options{Binary: binary})
		got := map[string]string{}
		for i := range r.Entries {
			e := &r.Entries[i]
			if !e.Agrees {
				t.Errorf("%s", toJSON(t, e))
			}
			got[e.Consumer] = string(e.Broker.Outcome)
		}
		want := map[string]string{"bad": "reject", "merged": "reject", "new": "reject"}
		if strings.HasPrefix(r.BrokerVersion, "2.9.") || strings.HasPrefix(r.BrokerVersion, "2.1") && r.BrokerVersion < "2.12" {
			want["merged"], want["new"] = "noop", "create"
		}
		diff(t, want, got)
	})
}

// TestCellsAreApart has two cells, one of them a cluster, with limits of their own
// and a declaration for each.
func TestCellsAreApart(t *testing.T) {
	t.Parallel()
	cell := func(name, cluster string, limit int) string {
		return fmt.Sprintf(`{"name": %q, "cluster": %q, "broker_version": "2.15.3", "account": {"account": "TEAM", "limits": {"max_consumers": %d}},
			"streams": [{"config": {"name": "A", "subjects": ["a"], "retention": "limits", "num_replicas": 1}, "consumers": [{"config": {"durable_name": "one", "ack_policy": "explicit"}}]}]}`, name, cluster, limit)
	}
	s, err := audit.ReadSnapshot("two.json", []byte(`{"schema": "natsmig.snapshot.v1", "cells": [`+cell("us", "C", 1)+","+cell("eu", "", -1)+"]}"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := audit.Index(s, broker.Version{})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{}
	w.declare(t, audit.Replace, "A", `{"durable_name": "two", "ack_policy": "explicit"}`)
	w.declare(t, audit.Replace, "A", `{"durable_name": "three", "ack_policy": "explicit"}`)
	w.declared[1].Target = audit.Target{Cluster: "C", Account: "TEAM"}
	r, err := rehearse.Run(t.Context(), f, w.declared, rehearse.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const full = "reject maximum consumers limit reached (10026)"
	agreeing(t, r, "A/two: create", "A/three: "+full, "A/two: "+full)
	if a, b := r.Entries[0].Cell, r.Entries[1].Cell; a != "eu" || b != "us" {
		t.Errorf("cells %s and %s, want eu and us", a, b)
	}
}
