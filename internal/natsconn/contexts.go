package natsconn

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ErrUnknownContext says that a context was named, or is selected, that has no
// file.
var ErrUnknownContext = errors.New("no such context")

// source is where one cell's settings come from; the zero value is no context.
type source struct {
	name, path string
	selected   bool
}

// sources gives what the config names, or the selected context, or no context.
func sources(c Config) []source {
	if c.NoContext {
		return []source{{}}
	}
	if len(c.Contexts) == 0 {
		return []source{selectedSource(c.Env)}
	}
	var list []source
	for _, name := range c.Contexts {
		list = append(list, sourceOf(name, c.Env))
	}
	return list
}

// selectedSource reads context.txt. That it cannot be read means that nothing is
// selected, as in the nats tool.
func selectedSource(env Env) source {
	dir, err := env.configDir()
	if err != nil {
		return source{}
	}
	data, err := os.ReadFile(filepath.Join(dir, "nats", "context.txt"))
	name := strings.TrimSpace(string(data))
	if err != nil || name == "" {
		return source{}
	}
	return source{name: name, selected: true}
}

// sourceOf takes name as a path if it ends in ".json" and is a file.
func sourceOf(name string, env Env) source {
	path := env.expandPath(name)
	info, err := os.Stat(path)
	if err != nil || info.IsDir() || !strings.HasSuffix(path, ".json") {
		return source{name: name}
	}
	base := filepath.Base(path)
	if short := strings.TrimSuffix(base, ".json"); short != "" {
		base = short
	}
	return source{name: base, path: path}
}

// load reads the settings of a source.
func (src *source) load(env Env) (settings, error) {
	if src.name == "" && src.path == "" {
		return settings{}, nil
	}
	if src.path == "" {
		if err := src.locate(env); err != nil {
			return settings{}, err
		}
	}
	data, err := os.ReadFile(src.path)
	if errors.Is(err, fs.ErrNotExist) {
		return settings{}, src.unknown()
	}
	if err != nil {
		return settings{}, fmt.Errorf("read context %q: %w", src.name, err)
	}
	s, err := parseSettings(src.path, data)
	if err != nil {
		return settings{}, err
	}
	s.expand(env)
	return s, nil
}

func (src *source) locate(env Env) error {
	if strings.Contains(src.name, "..") || strings.ContainsAny(src.name, `/\`) {
		return fmt.Errorf("look up context %q: %w: a name has no \"/\", \"\\\" or \"..\", and there is no such .json file",
			src.name, ErrUnknownContext)
	}
	dir, err := env.configDir()
	if err != nil {
		return fmt.Errorf("look up context %q: %w", src.name, err)
	}
	src.path = filepath.Join(dir, "nats", "context", src.name+".json")
	return nil
}

func (src *source) unknown() error {
	if src.selected {
		return fmt.Errorf("look up the selected context %q: %w: no file %s", src.name, ErrUnknownContext, src.path)
	}
	return fmt.Errorf("look up context %q: %w: no file %s", src.name, ErrUnknownContext, src.path)
}
