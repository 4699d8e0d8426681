package natsconn

import (
	"os"
	"path/filepath"
	"testing"
)

// world is a configuration directory and an environment of one test.
type world struct {
	t    *testing.T
	dir  string
	vars map[string]string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	dir := t.TempDir()
	return &world{t: t, dir: dir, vars: map[string]string{"XDG_CONFIG_HOME": filepath.Join(dir, "config")}}
}

func (w *world) env() Env {
	return Env{
		Home:   filepath.Join(w.dir, "home"),
		Lookup: func(name string) (string, bool) { value, found := w.vars[name]; return value, found },
	}
}

// file writes a file below the world's directory and gives its path.
func (w *world) file(name, content string) string {
	w.t.Helper()
	path := filepath.Join(w.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		w.t.Fatal(err)
	}
	return path
}

// context writes a context file where the nats tool keeps it.
func (w *world) context(name, content string) string {
	w.t.Helper()
	return w.file("config/nats/context/"+name+".json", content)
}

func (w *world) selectContext(name string) {
	w.t.Helper()
	w.file("config/nats/context.txt", name+"\n")
}

// resolve resolves a config in this world.
func (w *world) resolve(c Config) ([]Target, error) {
	c.Env = w.env()
	return Resolve(c)
}

// one resolves a config that has to give one target.
func (w *world) one(c Config) Target {
	w.t.Helper()
	targets, err := w.resolve(c)
	if err != nil || len(targets) != 1 {
		w.t.Fatalf("Resolve gave %v, %v, want one target", targets, err)
	}
	return targets[0]
}
