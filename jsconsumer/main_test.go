package jsconsumer_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
)

// TestMain makes a broker of the test binary if it is started like one, so that
// tests have a process that they can kill.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "-c" {
		if err := beBroker(os.Args[2]); err != nil {
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
