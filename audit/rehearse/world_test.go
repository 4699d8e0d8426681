package rehearse_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/natsmig/natsmig/audit"
	"github.com/natsmig/natsmig/audit/broker"
)

// A world is one cell in the making, by hand.
type world struct {
	version  string
	cluster  string
	account  string // JSON of the account's info
	streams  []string
	declared []*audit.Declaration
}

// stream adds a stream with consumers, each in the API's own JSON.
func (w *world) stream(config string, consumers ...string) *world {
	var infos []string
	for _, c := range consumers {
		infos = append(infos, fmt.Sprintf(`{"config": %s}`, c))
	}
	return w.info(fmt.Sprintf(`{"config": %s, "consumers": [%s]}`, config, strings.Join(infos, ",")))
}

// info adds a stream as it stands in a snapshot.
func (w *world) info(stream string) *world {
	w.streams = append(w.streams, stream)
	return w
}

// declare adds a declaration of a consumer.
func (w *world) declare(t testing.TB, writer audit.Writer, stream, config string) *world {
	t.Helper()
	d, err := audit.DeclareConsumer(stream, json.RawMessage(config))
	if err != nil {
		t.Fatal(err)
	}
	d.Writer = writer
	w.declared = append(w.declared, d)
	return w
}

// declareStream adds one of a stream.
func (w *world) declareStream(t testing.TB, writer audit.Writer, config string) {
	t.Helper()
	d, err := audit.DeclareStream(json.RawMessage(config))
	if err != nil {
		t.Fatal(err)
	}
	d.Writer = writer
	w.declared = append(w.declared, d)
}

func (w *world) fleet(t testing.TB) *audit.Fleet {
	t.Helper()
	text := fmt.Sprintf(`{"schema": "natsmig.snapshot.v1", "cells": [{"name": "prod", "broker_version": %q, "cluster": %q, "account": %s, "streams": [%s]}]}`,
		or(w.version, "2.15.3"), w.cluster, or(w.account, "{}"), strings.Join(w.streams, ","))
	s, err := audit.ReadSnapshot("world.json", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	f, err := audit.Index(s, broker.Version{})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
