package natsconn

import (
	"errors"
	"fmt"
	"slices"
)

// CellError says what is wrong with one cell's settings. Its text is that of Err,
// which names the cell or the cell's file.
type CellError struct {
	// Cell is the cell's name, empty if it has none because its URL is wrong.
	Cell string
	Err  error
}

// Error gives the text of Err.
func (e *CellError) Error() string { return e.Err.Error() }

// Unwrap gives Err.
func (e *CellError) Unwrap() error { return e.Err }

// Resolve gives a target for each cell that c names, in that order. It reads
// context files; it opens no connection, runs no program, and does not look at
// the files of credentials and certificates.
//
// What is wrong with the cells comes joined, a [CellError] for each, beside the
// targets of the other cells: those can be used. A broken context file gives a
// [PosError] inside.
func Resolve(c Config) ([]Target, error) {
	c, err := c.withEnv()
	if err != nil {
		return nil, err
	}
	list := sources(c)
	if len(list) > 1 && c.Servers != "" {
		return nil, fmt.Errorf("resolve %d contexts: --server (or NATS_URL) would send all of them to one server", len(list))
	}
	var targets []Target
	var errs []error
	for _, src := range list {
		t, err := resolve(c, src)
		if err == nil && slices.ContainsFunc(targets, func(other Target) bool { return other.Name == t.Name }) {
			err = fmt.Errorf("resolve cell %q: it is named twice", t.Name)
		}
		if err != nil {
			errs = append(errs, &CellError{Cell: t.Name, Err: err})
			continue
		}
		targets = append(targets, t)
	}
	return targets, errors.Join(errs...)
}

// resolve gives one target. Its name is set also where there is an error.
func resolve(c Config, src source) (Target, error) {
	t := Target{Name: src.name}
	s, err := src.load(c.Env)
	if err != nil {
		return t, err
	}
	s.overlay(c)
	servers, errs := parseServers(s.url)
	if t.Name == "" && len(servers) > 0 {
		t.Name = servers[0].host
	}
	prefix, err := s.apiPrefix()
	if err != nil {
		errs = append(errs, err)
	}
	r := resolver{env: c.Env, allowPrograms: c.AllowPrograms}
	errs = append(errs, s.check(r)...)
	if len(errs) > 0 {
		return t, inCell(t.Name, errs)
	}
	return newTarget(t.Name, src, s, r, servers, prefix, c), nil
}

// check tells everything that is wrong with the settings.
func (s *settings) check(r resolver) []error {
	errs := append(s.checkPrefixes(), s.checkTLS()...)
	if s.needsNSC() {
		if err := r.mayRun("nsc", "nsc"); err != nil {
			errs = append(errs, err)
		}
	}
	for _, ref := range s.references() {
		if err := r.check(ref.field, ref.ref, ref.literal); err != nil {
			errs = append(errs, err)
		}
	}
	if s.socksProxy != "" {
		if _, err := parseProxy(s.socksProxy); err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

func inCell(name string, errs []error) error {
	for i, err := range errs {
		if name == "" {
			errs[i] = fmt.Errorf("resolve the connection: %w", err)
			continue
		}
		errs[i] = fmt.Errorf("resolve cell %q: %w", name, err)
	}
	return errors.Join(errs...)
}
