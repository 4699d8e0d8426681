// Package broker is the model of what a nats-server stores and refuses.
//
// [Broker.Consumer] and [Broker.Stream] say what a broker of a version does with
// one request, given what is live: the [Outcome], the error with the code and
// the words of that version, and the configuration it would hold afterwards. A
// version of a line that the model does not know has the outcome unknown.
//
// The model is written as the server is: defaults and clamps in the server's
// order, then checks in the server's order, then what an update may not change.
// A check is a row with the lines it holds for and its source in nats-server.
// [ConsumerFields] and [StreamFields] are the tables of fields, each with the line
// that first knew it. [DecodeConsumer] and [DecodeStream] read JSON as a broker
// does, what a strict broker would refuse included.
//
// The package is pure: no NATS package, no connection, no clock. It does not
// know pedantic mode, the totals of an account's storage, and what a broker
// remembers that no reply of its API shows.
package broker
