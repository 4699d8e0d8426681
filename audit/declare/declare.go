// Package declare reads what teams declare their streams and consumers to be.
//
// [Read] takes one file's contents and [Paths] files and folders. They read
// natsmig's own YAML, the API's and the CLI's JSON (a configuration, an info, a
// create request, a list of them), NACK Stream and Consumer resources among the
// other kinds of a rendered chart, the output of `terraform show -json`, and
// snapshots. What a tool would fill in before it applies the declaration is
// filled in and told as a note.
//
// Every mistake of every file is told at once, with its place. The package does
// not judge: what a broker thinks of a declaration is package audit's.
package declare

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/natsmig/natsmig/audit"
	"github.com/natsmig/natsmig/internal/strictyaml"
)

// A Set is what was read.
type Set struct {
	Declarations []*audit.Declaration
	Policy       *audit.Policy // nil when no file has one
	Skipped      []string      // kinds that other tools apply, and that were passed over
}

// Paths reads files, and every .yaml, .yml and .json file in folders, but for
// hidden folders inside them. The error joins the mistakes of all of them.
func Paths(paths []string) (*Set, error) {
	set := &Set{}
	var errs []error
	for _, p := range paths {
		one, err := readPath(p)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		set.add(one)
	}
	if err := set.twice(); err != nil {
		errs = append(errs, err)
	}
	return set, errors.Join(errs...)
}

// readPath reads a file, or those of a folder.
func readPath(path string) (*Set, error) {
	files, err := expand(path)
	if err != nil {
		return nil, err
	}
	set := &Set{}
	var errs []error
	for _, f := range files {
		one, err := readFile(f)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		set.add(one)
	}
	if set.empty() && len(errs) == 0 {
		in := ""
		if len(files) > 1 {
			in = fmt.Sprintf(" in %d files", len(files))
		}
		return nil, fmt.Errorf("%s: no stream or consumer configuration found%s%s", path, in, set.passedOver())
	}
	return set, errors.Join(errs...)
}

func (s *Set) add(o *Set) {
	s.Declarations = append(s.Declarations, o.Declarations...)
	s.Skipped = append(s.Skipped, o.Skipped...)
	if o.Policy == nil {
		return
	}
	if s.Policy == nil {
		s.Policy = &audit.Policy{Severities: map[string]audit.Severity{}}
	}
	maps.Copy(s.Policy.Severities, o.Policy.Severities)
	s.Policy.Excuses = append(s.Policy.Excuses, o.Policy.Excuses...)
}

func (s *Set) empty() bool { return len(s.Declarations) == 0 && s.Policy == nil }

func (s *Set) passedOver() string {
	if len(s.Skipped) == 0 {
		return ""
	}
	kinds := slices.Compact(slices.Sorted(slices.Values(s.Skipped)))
	return " (passed over: " + strings.Join(kinds, ", ") + ")"
}

// twice finds two declarations of one thing for one target.
func (s *Set) twice() error {
	type place struct {
		name   string
		target audit.Target
	}
	var errs []error
	seen := map[place]audit.Position{}
	for _, d := range s.Declarations {
		at := place{d.Name(), d.Target}
		if first, ok := seen[at]; ok {
			errs = append(errs, &audit.DuplicateError{Name: d.Name(), First: first, Second: d.Position})
			continue
		}
		seen[at] = d.Position
	}
	return errors.Join(errs...)
}

// expand lists the files that a path stands for.
func expand(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read declarations: %w", err)
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	var files []string
	root := path + string(filepath.Separator) // so that a link is followed
	err = filepath.WalkDir(root, func(p string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() && p != root && strings.HasPrefix(e.Name(), ".") {
			return fs.SkipDir // .git, or the copies that a mounted ConfigMap keeps
		}
		if err == nil && !e.IsDir() && slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(p)) {
			files = append(files, p)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read declarations: %w", err)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: the folder has no .yaml, .yml or .json file", path)
	}
	return files, nil
}

func readFile(path string) (*Set, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read declarations: %w", err)
	}
	if info.Size() > strictyaml.MaxSize {
		return nil, fmt.Errorf("%s: the file has %d MB, declarations are read up to %d MB", path, info.Size()>>20, strictyaml.MaxSize>>20)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read declarations: %w", err)
	}
	return Read(path, data)
}
