// Package readiness says whether a consumer can be counted on. [Classify] tells
// what an error means, a [Gate] is the state machine of one consumer, a [Group]
// combines several and serves /readyz, /livez and /startupz. A [Probe] asks a broker
// about durables that another process runs.
//
// A Gate has no goroutine and asks nobody: the runner tells it what it sees, and
// the gate says how long to wait before the next attempt, and what is worth
// telling a person. Ready means that the configuration was accepted and that the
// consumer is bound now; a live connection proves neither.
//
// The package makes no decision about a process: it serves answers to probes.
package readiness
