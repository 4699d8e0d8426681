package embedded

import (
	"crypto/rand"
	"errors"
	"fmt"
	"math/big"
	"net"
	"strings"
)

// errPortTaken says that a listener could not be opened: another program was
// quicker to take the port.
var errPortTaken = errors.New("port is taken")

// portAttempts is how often a start is tried with other ports.
const portAttempts = 5

// Ports are picked below the ephemeral ranges of Linux (from 32768) and of
// macOS and Windows (from 49152): there no outgoing connection and no listener
// on port zero can take one between the check and the server's own listen.
const (
	lowestPort  = 12000
	highestPort = 32000
)

// pickPort returns a port that nothing listened on a moment ago.
func pickPort() (int, error) {
	var last error
	for range 50 {
		n, err := rand.Int(rand.Reader, big.NewInt(highestPort-lowestPort))
		if err != nil {
			return 0, fmt.Errorf("pick a port: %w", err)
		}
		port := lowestPort + int(n.Int64())
		if last = canListen(port); last == nil {
			return port, nil
		}
	}
	return 0, fmt.Errorf("pick a port: %w", last)
}

func canListen(port int) error {
	l, err := net.Listen("tcp", loopback(port)) //nolint:noctx // closed on the next line
	if err != nil {
		return err
	}
	return l.Close()
}

func loopback(port int) string {
	return fmt.Sprintf("127.0.0.1:%d", port)
}

// pick fills in the ports that the configuration needs and does not name.
func (c Config) pick() (ports, error) {
	p := ports{client: -1, cluster: c.Cluster.Port, gateway: c.Gateway.Port, leaf: c.Leaf.Port}
	for _, need := range []struct {
		port *int
		is   bool
	}{
		{&p.cluster, c.Cluster.Name != ""},
		{&p.gateway, c.Gateway.Name != ""},
		{&p.leaf, c.Leaf.Listen},
	} {
		if !need.is || *need.port != 0 {
			continue
		}
		port, err := pickPort()
		if err != nil {
			return ports{}, err
		}
		*need.port = port
	}
	return p, nil
}

// startError wraps the reason why a server did not start with the end of its
// log, and tells a taken port from other reasons.
func startError(name string, cause error, log *logs) error {
	text := log.String()
	if strings.Contains(text, "Error listening on") {
		cause = errors.Join(errPortTaken, cause)
	}
	return fmt.Errorf("start server %q: %w; its log ends with:\n%s", name, cause, text)
}

func randomText(n int) string {
	return rand.Text()[:n]
}
