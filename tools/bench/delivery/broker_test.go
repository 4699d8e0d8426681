package delivery

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/natsmig/natsmig/natstest"
)

// brokerEnv makes the test binary be a nats-server. The broker has a process of
// its own so that what is counted in this one is the client's.
const brokerEnv = "NATSMIG_BENCH_BROKER"

func TestMain(m *testing.M) {
	if os.Getenv(brokerEnv) != "" {
		if err := serve(os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// serve is the main function of nats-server.
func serve(args []string) error {
	opts, err := server.ConfigureOptions(flag.NewFlagSet("nats-server", flag.ExitOnError), args, nil, nil, nil)
	if err != nil {
		return err
	}
	s, err := server.NewServer(opts)
	if err != nil {
		return err
	}
	s.ConfigureLogger()
	s.Start()
	s.WaitForShutdown()
	return nil
}

func startBroker(b *testing.B) *natstest.Server {
	b.Helper()
	self, err := os.Executable()
	must(b, err)
	b.Setenv(brokerEnv, "1")
	return natstest.Start(b, natstest.WithBinary(self))
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
