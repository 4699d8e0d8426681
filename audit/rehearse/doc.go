// Package rehearse puts the question of an audit to a real broker.
//
// [Run] rebuilds a fleet on brokers of its own: the streams, the account's limits
// and the live consumers of each cell, on a server inside this program or on a
// binary of the version that matters. It applies each declaration the way its
// writer does, reads back, and tells where the broker's answer is not the model's
// ([audit.Rehearsal]). The brokers of the fleet are never touched.
//
// Every declaration is asked alone, as [audit.Compare] asks it: what one of them
// changed is put back before the next that it could matter to. Only a stream's declaration comes before
// those of its consumers, and holds while they are asked.
//
// A rehearsal does not copy messages, does not know the server's own limits and
// the totals of an account's storage, and takes streams out of their placement.
// What can not be rebuilt is skipped, with the reason, and never counts as agreed.
package rehearse
