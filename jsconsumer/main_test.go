package jsconsumer_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
)

// TestMain makes a broker or a service of the test binary if it is started like
// one, so that tests have processes that they can kill.
func TestMain(m *testing.M) {
	roles := map[string]func(string) error{"-c": beBroker, asService: beService}
	if len(os.Args) == 3 && roles[os.Args[1]] != nil {
		if err := roles[os.Args[1]](os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func beBroker(config string) error {
	opts, err := server.ProcessConfigFile(config)
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

// self is the test binary.
func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}
