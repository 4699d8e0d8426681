// Package bench measures natsmig beside its peers. It is a module of its own, so
// that they do not come into the main one.
package bench
