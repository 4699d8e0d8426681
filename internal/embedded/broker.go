package embedded

import "context"

// broker is one running nats-server, in this process or in one of its own.
type broker interface {
	// clientURL is where clients connect.
	clientURL() string
	// stop asks the server to end and waits until it has.
	stop(ctx context.Context) error
	// kill ends the server without asking, as far as that is possible.
	kill(ctx context.Context) error
}

// launch starts a broker from a configuration file and returns when it listens
// for clients.
func launch(ctx context.Context, c Config, dir layout) (broker, error) {
	if c.Binary != "" {
		return startProcess(ctx, c, dir)
	}
	return startInProcess(ctx, c, dir)
}
