// Package embedded starts NATS brokers that last as long as the caller wants:
// in this process, or as an external nats-server binary with a generated
// configuration file. Both go through the same [Config] and the same [Server],
// so what is shown on the one can be shown on the other.
//
// Start a single broker with [Start], and the usual topologies with
// [StartCluster], [StartSuperCluster] and [StartLeaf]. Each of them returns
// when clients can connect and JetStream answers, which are two different
// moments, and undoes what it started when it fails.
//
// No port is fixed. The client port is chosen by the operating system; the
// ports that brokers must know of each other beforehand are picked at random
// outside the usual ephemeral range, and picked again when one turns out to be
// taken. Once chosen, a port is kept across [Server.Restart], so that clients
// reconnect.
//
// The package does not import testing (the natsmig command links it), does not
// look for binaries on the machine, does not install broker versions, and
// stands in for no network fault: it has no proxies and no partitions. An
// in-process broker cannot crash; see [Server.Kill].
package embedded
