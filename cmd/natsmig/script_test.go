package main

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"natsmig": main})
}

// TestScript runs every script under testdata. UPDATE=1 rewrites the output that
// they expect.
//
// Besides the commands of testscript, scripts have
//
//	status N COMMAND ARGS...        run a command and want exit status N
//	server [no-jetstream|silent|accounts]
//	                                start a broker and set NATS_URL
//	fleet                           build the reference fleet on the broker
//	stream NAME SUBJECT             add a stream
//	consumer STREAM NAME ACK_WAIT [paused]
//	                                add a durable with explicit acknowledgment
//	pull STREAM NAME                leave a pull waiting on a durable
//	member FILE PATH [VALUE]        want a member in a JSON file, with this value
//	same FILE FILE                  want two JSON reports to say the same
//
// They see nothing of the developer's own environment: no NATS_ variables, and
// no contexts but those under $XDG_CONFIG_HOME in the script's folder.
func TestScript(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		UpdateScripts:       os.Getenv("UPDATE") != "",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("XDG_CONFIG_HOME", e.WorkDir+"/config")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status":   wantStatus,
			"server":   brokers{t}.server,
			"fleet":    brokers{t}.fleet,
			"stream":   brokers{t}.stream,
			"consumer": brokers{t}.consumer,
			"pull":     brokers{t}.pull,
			"member":   member,
			"same":     same,
		},
	})
}

// wantStatus exists because testscript can say that a command fails, not how.
func wantStatus(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N COMMAND ARGS...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit status is %d, want %d", got, want)
	}
}
