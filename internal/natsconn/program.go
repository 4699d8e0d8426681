package natsconn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// ErrProgramNotAllowed says that a reference runs a program and
// Config.AllowPrograms is false.
var ErrProgramNotAllowed = errors.New("programs run only with --allow-programs")

func (r resolver) mayRun(field, program string) error {
	if r.allowPrograms {
		return nil
	}
	return fmt.Errorf("%s: the reference runs the program %q: %w", field, program, ErrProgramNotAllowed)
}

// run runs a program. Its standard error is not passed on: what a foreign program
// says about secrets is not ours to print.
func (r resolver) run(ctx context.Context, field, program string, args ...string) ([]byte, error) {
	if err := r.mayRun(field, program); err != nil {
		return nil, err
	}
	run := r.env.Run
	if run == nil {
		run = runProgram
	}
	out, err := run(ctx, program, args...)
	if err != nil {
		return nil, fmt.Errorf("%s: run %q: %w", field, program, programError(ctx, err))
	}
	return out, nil
}

func runProgram(ctx context.Context, program string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	// A grandchild that keeps the pipe open must not hold us past the context.
	cmd.WaitDelay = time.Second
	return cmd.Output()
}

// programError keeps what is safe to show: that it was not found, how it ended, or
// that the time was over.
func programError(ctx context.Context, err error) error {
	var ended *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, exec.ErrNotFound):
		return exec.ErrNotFound
	case errors.As(err, &ended):
		return errors.New(ended.String())
	}
	return errors.New("it could not be run")
}

// onePassword asks the program op.
func (r resolver) onePassword(ctx context.Context, field, ref string) ([]byte, error) {
	return r.run(ctx, field, "op", "read", "op://"+rest(ref, "op", "://"))
}

// nscProfile is the part that we read of what nsc says about a user.
type nscProfile struct {
	UserCreds string `json:"user_creds"`
	Operator  struct {
		Service []string `json:"service"`
	} `json:"operator"`
}

func (r resolver) nsc(ctx context.Context, field, ref string) (nscProfile, error) {
	out, err := r.run(ctx, field, "nsc", "generate", "profile", "nsc://"+rest(ref, "nsc", "://"))
	if err != nil {
		return nscProfile{}, err
	}
	var profile nscProfile
	if err := json.Unmarshal(out, &profile); err != nil {
		return nscProfile{}, fmt.Errorf("%s: read the output of %q: it is not the JSON of a profile", field, "nsc")
	}
	return profile, nil
}

// nscCreds reads the credentials file that nsc points to.
func (r resolver) nscCreds(ctx context.Context, field, ref string) ([]byte, error) {
	profile, err := r.nsc(ctx, field, ref)
	if err != nil {
		return nil, err
	}
	if profile.UserCreds == "" {
		return nil, fmt.Errorf("%s: the profile that %q gave has no user_creds", field, "nsc")
	}
	return readFile(field, profile.UserCreds)
}

// askNSC settles the deprecated field nsc: it gives what creds and url leave open.
func (r resolver) askNSC(ctx context.Context, s *settings) error {
	if !s.needsNSC() {
		return nil
	}
	profile, err := r.nsc(ctx, "nsc", s.nsc)
	if err != nil {
		return err
	}
	if s.url == "" {
		s.url = strings.Join(profile.Operator.Service, ",")
	}
	if s.creds == "" {
		s.creds = profile.UserCreds
	}
	return nil
}

// needsNSC says whether the deprecated field nsc has something to give.
func (s *settings) needsNSC() bool {
	return s.nsc != "" && (s.url == "" || (s.user == "" && s.creds == ""))
}
