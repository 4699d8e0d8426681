// Package audit says what a broker would do with the streams and consumers that
// a team is about to declare: what it would store, reset, clamp, ignore or
// refuse, and what the rules have to say about that.
//
// The data goes one way. [Take] reads cells into a [Snapshot], which
// [ReadSnapshot] and [Snapshot.Write] exchange with files. [Index] understands a
// snapshot as a [Fleet]. A [Declaration] comes from package audit/declare, or
// from [Declare] in Go. [Compare] puts fleet and declarations together, asks the
// model in audit/broker, and gives a [Report]; it asks nobody else, so the same
// input gives the same report, with or without a broker. [Adopt] goes the other
// way, from a fleet to the declarations that would change nothing.
//
// How a declaration is applied decides what happens to a field that it leaves
// out: that is its [Writer]. A [Rule] is a value with a code, a text and a pure
// function. A [Policy] and a [Baseline] say which findings count.
//
// What could not be seen is unknown and never counts as clean: a cell says what
// it did not let be read, and a config that the model does not know whole has
// the outcome unknown.
//
// The package never changes anything on a broker, links no server, prints
// nothing and logs nothing.
package audit
