package natsconn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"time"
)

// Env is what Resolve and Connect take from the world around them.
type Env struct {
	// Lookup reads an environment variable; nil means os.LookupEnv.
	Lookup func(name string) (string, bool)
	// Home is the home directory; empty means the current user's, which is the
	// one of the user database as in the nats tool, and only then $HOME.
	Home string
	// Run runs a program and gives its standard output; nil means to run it as a
	// child process that ends with the context.
	Run func(ctx context.Context, program string, args ...string) ([]byte, error)
}

func (e Env) lookup(name string) (string, bool) {
	if e.Lookup == nil {
		return os.LookupEnv(name)
	}
	return e.Lookup(name)
}

// get gives a variable's value, empty where it is not set.
func (e Env) get(name string) string {
	value, _ := e.lookup(name)
	return value
}

func (e Env) home() (string, error) {
	if e.Home != "" {
		return e.Home, nil
	}
	if u, err := user.Current(); err == nil && u.HomeDir != "" {
		return u.HomeDir, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("find the home directory: %w", err)
	}
	return home, nil
}

// configDir is the directory that holds nats/context and nats/context.txt.
func (e Env) configDir() (string, error) {
	if xdg := e.get("XDG_CONFIG_HOME"); xdg != "" {
		return xdg, nil
	}
	home, err := e.home()
	if err != nil {
		return "", err
	}
	return filepath.Join(home, ".config"), nil
}

// expandPath expands variables and then a leading "~", in that order, as the
// nats tool does for the fields that name files.
func (e Env) expandPath(path string) string {
	path = os.Expand(path, e.get)
	if path == "" || path[0] != '~' {
		return path
	}
	home, err := e.home()
	if err != nil {
		return path
	}
	return home + path[1:]
}

// withEnv fills the fields that no flag has set from the environment.
func (c Config) withEnv() (Config, error) {
	for _, v := range []struct {
		name  string
		field *string
	}{
		{"NATS_URL", &c.Servers},
		{"NATS_USER", &c.User},
		{"NATS_PASSWORD", (*string)(&c.Password)},
		{"NATS_TOKEN", (*string)(&c.Token)},
		{"NATS_CREDS", (*string)(&c.Creds)},
		{"NATS_NKEY", (*string)(&c.NKey)},
		{"NATS_JWT", (*string)(&c.UserJWT)},
		{"NATS_SEED", (*string)(&c.UserSeed)},
		{"NATS_CERT", &c.TLSCert},
		{"NATS_KEY", &c.TLSKey},
		{"NATS_CA", &c.TLSCA},
		{"NATS_SOCKS_PROXY", &c.SocksProxy},
	} {
		if *v.field == "" {
			*v.field = c.Env.get(v.name)
		}
	}
	if name := c.Env.get("NATS_CONTEXT"); len(c.Contexts) == 0 && name != "" {
		c.Contexts = []string{name}
	}
	return c.withTimeout()
}

func (c Config) withTimeout() (Config, error) {
	if text := c.Env.get("NATS_TIMEOUT"); c.Timeout == 0 && text != "" {
		timeout, err := time.ParseDuration(text)
		if err != nil {
			return c, fmt.Errorf("read NATS_TIMEOUT: %q is not a duration such as 5s", text)
		}
		c.Timeout = timeout
	}
	if c.Timeout == 0 {
		c.Timeout = cmp.Or(c.OtherTimeout, DefaultTimeout)
	}
	if c.Timeout < 0 {
		return c, errors.New("read the timeout: it is negative")
	}
	return c, nil
}

func sorted(list []string) []string {
	slices.Sort(list)
	return list
}
