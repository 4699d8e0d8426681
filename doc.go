// Package natsmig is the root of a toolkit that answers one question before a
// deploy does: what will this broker do with what we are about to send it, and
// when will a failing message really be retried and given up?
//
// The packages a program imports:
//
//   - audit: snapshots, declarations, comparison, rules, reports. Pure but for
//     audit.Take. audit/broker is the model of the broker; audit/declare reads
//     declarations of every kind.
//   - timingcontract: when a failing message is retried and given up. Standard
//     library alone.
//   - natstest: brokers and clusters inside the test process.
//
// The command is cmd/natsmig. What is under internal is mechanism: embedded starts
// brokers, natsconn resolves connections as the nats command does, report writes
// reports, strictyaml reads YAML and JSON with positions, spell finds the word that
// was meant, and fleet builds the reference fleet.
//
// docs/architecture.md says how to read the sources.
package natsmig
