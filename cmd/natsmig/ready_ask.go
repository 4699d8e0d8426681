package main

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/natsmig/natsmig/audit"
	"github.com/natsmig/natsmig/internal/report"
	"github.com/natsmig/natsmig/readiness"
)

// askCells asks every cell about what is meant for it, all cells at once.
func askCells(ctx context.Context, p readiness.Probe, sources []audit.Source, probed []probedDurable) ([]report.Probed, error) {
	meant, err := meantFor(sources, probed)
	if err != nil {
		return nil, err
	}
	found := make([][]report.Probed, len(sources))
	var wg sync.WaitGroup
	for i := range sources {
		wg.Go(func() { found[i] = askCell(ctx, p, &sources[i], meant[i]) })
	}
	wg.Wait()
	return slices.Concat(found...), nil
}

// meantFor lists for each cell what to ask it about, each durable once.
func meantFor(sources []audit.Source, probed []probedDurable) ([][]readiness.Durable, error) {
	meant := make([][]readiness.Durable, len(sources))
	var errs []error
	for _, p := range probed {
		somewhere := false
		for i := range sources {
			matches := p.target.Matches(seen(&sources[i], p.target))
			somewhere = somewhere || matches
			if matches && !slices.Contains(meant[i], p.Durable) {
				meant[i] = append(meant[i], p.Durable)
			}
		}
		if !somewhere {
			errs = append(errs, &audit.TargetError{Position: p.at, Target: p.target, Cells: names(sources)})
		}
	}
	return meant, errors.Join(errs...)
}

// seen is what is known of a cell without asking it. The rest is taken to be as
// the target says: which account it is, and a domain that nobody told.
func seen(s *audit.Source, t audit.Target) *audit.CellView {
	v := &audit.CellView{Name: s.Name, Cluster: t.Cluster, Domain: t.Domain, Account: t.Account}
	if s.Domain != "" {
		v.Domain = s.Domain
	}
	if s.Conn != nil {
		v.Cluster = s.Conn.ConnectedClusterName()
	}
	return v
}

func names(sources []audit.Source) []string {
	var all []string
	for i := range sources {
		all = append(all, audit.Target{Cell: sources[i].Name}.String())
	}
	return all
}

// askCell asks one cell. Of one that can not be reached nothing can be told.
func askCell(ctx context.Context, p readiness.Probe, s *audit.Source, durables []readiness.Durable) []report.Probed {
	var all []report.Probed
	for i, m := range statuses(ctx, p, s, durables) {
		all = append(all, report.Probed{
			Cell: s.Name, Stream: durables[i].Stream, Consumer: durables[i].Consumer,
			Ready: m.Ready, State: m.State, Class: m.Class, Reason: m.Reason, Created: m.Created,
		})
	}
	return all
}

func statuses(ctx context.Context, p readiness.Probe, s *audit.Source, durables []readiness.Durable) []readiness.Status {
	err := s.Err
	if err == nil {
		p.JS, err = jetstream.NewWithAPIPrefix(s.Conn, s.APIPrefix)
	}
	if err == nil {
		return p.Ask(ctx, durables...).Members
	}
	all := make([]readiness.Status, len(durables))
	for i := range all {
		all[i] = readiness.Status{State: readiness.Unknown, Class: readiness.Classify(err), Reason: err.Error()}
	}
	return all
}

// summed counts, and judges: what can not be consumed counts more than what could
// not be told.
func summed(found []report.Probed) *report.Readiness {
	r := &report.Readiness{Schema: report.ReadySchema, Verdict: audit.Pass, Durables: found}
	n := &r.Summary
	n.Durables = len(found)
	for i := range found {
		switch found[i].State {
		case readiness.Consumable:
			n.Consumable++
		case readiness.NotConsumable:
			n.NotConsumable++
		default:
			n.Unknown++
		}
	}
	switch {
	case n.NotConsumable > 0:
		r.Verdict = audit.Fail
	case n.Unknown > 0 || n.Durables == 0:
		r.Verdict = audit.VerdictUnknown
	}
	return r
}
