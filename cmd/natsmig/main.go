// Command natsmig says what a JetStream broker will do with consumer and stream
// declarations before a deploy does.
//
// One file per verb: it parses, calls, prints, and picks an exit status. The
// rules of the terminal are these: standard output is the answer and standard
// error is for people; colors and progress appear only where a terminal
// watches, and colors never with NO_COLOR; the order of output is always the
// same for the same input.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"
	"github.com/willabides/kongplete"
)

// Exit statuses. Scripts depend on them, so they are part of the interface.
const (
	exitOK      = 0 // nothing to report
	exitFail    = 1 // the verdict is fail
	exitUsage   = 2 // wrong command line or declaration file
	exitFailure = 3 // could not do it, or not all of it
)

// errFail says that the command worked and that its verdict is fail.
var errFail = errors.New("the verdict is fail")

// errUnknown says that the command worked, but did not see everything.
var errUnknown = errors.New("not everything could be checked")

// A usageError is a mistake in the command line or in a declaration file.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// commandLine is the grammar of the program.
type commandLine struct {
	Audit    auditCommand    `cmd:"" help:"Say what the broker would do with declarations: live or from a snapshot."`
	Rehearse rehearseCommand `cmd:"" help:"Put the audit's question to a real broker, and say where it answers otherwise."`
	Snapshot snapshotCommand `cmd:"" help:"Write what the cells have configured to a file."`
	Adopt    adoptCommand    `cmd:"" help:"Turn what is live into declarations, to start from."`
	Timing   timingCommand   `cmd:"" help:"When is a failing message retried and given up: shown, compared, measured."`
	Ready    readyCommand    `cmd:"" help:"Say whether durables can be consumed now: a probe for Kubernetes."`
	Rules    rulesCommand    `cmd:"" help:"List the rules, or explain one."`
	Demo     demoCommand     `cmd:"" help:"Build a fleet on a broker of its own, audit it, and tell its story."`
	Version  versionCommand  `cmd:"" help:"Print the version, and the broker lines that the model knows."`

	Completion kongplete.InstallCompletions `cmd:"" help:"Print the commands that switch on shell completion."`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	status := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

// run is the program but for the process around it.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var cl commandLine
	done := -1
	parser, err := kong.New(&cl,
		kong.Name("natsmig"),
		kong.Description("What will this broker do with what we are about to send it?"),
		kong.UsageOnError(),
		kong.Writers(stdout, stderr),
		kong.Exit(func(code int) { done = code }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.Vars{"statuses": "0 nothing to report, 1 findings or a refusal, 2 wrong command line or declaration, 3 could not do it all"},
		kong.Help(help),
	)
	if err != nil {
		complain(stderr, err)
		return exitFailure
	}
	kongplete.Complete(parser)
	command, err := parser.Parse(args)
	if done >= 0 { // --help printed
		return done
	}
	if err != nil {
		complain(stderr, err)
		return exitUsage
	}
	command.BindTo(ctx, (*context.Context)(nil))
	command.Bind(&streams{out: stdout, err: stderr})
	return status(stderr, command.Run())
}

// help adds the exit statuses to what kong prints.
func help(o kong.HelpOptions, ctx *kong.Context) error {
	if err := kong.DefaultHelpPrinter(o, ctx); err != nil {
		return err
	}
	fmt.Fprintln(ctx.Stdout, "\nExit status: 0 nothing to report, 1 findings or a refusal, 2 wrong command line or\ndeclaration file, 3 could not do it, or not all of it.")
	return nil
}

// status picks the exit status for what a verb returned.
func status(stderr io.Writer, err error) int {
	var usage usageError
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errFail):
		return exitFail
	case errors.Is(err, errUnknown):
		return exitFailure
	case errors.As(err, &usage):
		complain(stderr, err)
		return exitUsage
	}
	complain(stderr, err)
	return exitFailure
}

// userInfo is what may be secret in a URL.
var userInfo = regexp.MustCompile(`://[^\s/@]*@`)

// complain writes each line of an error behind the program's name. The parser's
// errors repeat the arguments that they are about, and a URL in the wrong place
// may hold a password.
func complain(w io.Writer, err error) {
	text := userInfo.ReplaceAllString(err.Error(), "://[redacted]@")
	for line := range strings.SplitSeq(text, "\n") {
		fmt.Fprintf(w, "natsmig: %s\n", line)
	}
}
