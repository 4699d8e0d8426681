// Package natsconn turns flags, environment and NATS context files into
// connections the way the nats command line tool does, so that whoever can reach
// a broker with that tool reaches it with natsmig too.
//
// [Resolve] reads a [Config] and gives one [Target] for each cell; it opens no
// connection and runs no program. [Target.Connect] gives a [Conn].
//
// What the nats tool (natscli v0.5.1, jsm.go v0.5.1) does is kept, also where it
// surprises:
//
//   - a flag wins over its environment variable, and that over the context, field
//     by field: --server alone keeps the selected context's credentials;
//   - of several kinds of credentials one is used, in the order user, creds, nkey,
//     jwt, wherever each came from: a context's user wins over --creds.
//     [Target.Ignored] tells what lost;
//   - a user without a password is a token.
//
// Where the nats tool goes on with a context that it could not read, natsconn
// stops: it would be talking to the wrong broker. Windows certificate stores are
// refused, for they would link nats-server.
//
// The package never writes a context file and never selects one. Nothing that it
// returns prints a secret: passwords, tokens, seeds, credentials, and user
// information in URLs are left out of every error and every String.
package natsconn
