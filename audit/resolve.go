package audit

import (
	"errors"
	"fmt"
	"slices"
)

// Resolve gives declarations of consumers that do not tell their stream the one
// they are on: the given one, else the only stream of the fleet that has such a
// consumer, else the only stream there is. The error lists those that none can
// be found for.
func Resolve(f *Fleet, ds []*Declaration, stream string) error {
	var errs []error
	for _, d := range ds {
		if d.Stream != "" || d.Consumer == "" {
			continue
		}
		if d.Stream = stream; d.Stream != "" {
			continue
		}
		names := f.streamsWith(d.Consumer)
		if len(names) != 1 {
			errs = append(errs, fmt.Errorf("%sthe stream of consumer %q is not told, and %s: name it with --stream", d.Position.prefix(), d.Consumer, found(names)))
			continue
		}
		d.Stream = names[0]
	}
	return errors.Join(errs...)
}

func found(names []string) string {
	if len(names) == 0 {
		return "no live stream has it"
	}
	return fmt.Sprintf("it could be any of %v", names)
}

func (f *Fleet) streamsWith(consumer string) []string {
	var having, all []string
	for _, c := range f.Cells {
		for _, s := range c.Streams {
			all = append(all, s.Name)
			if s.Consumer(consumer) != nil {
				having = append(having, s.Name)
			}
		}
	}
	if len(having) == 0 {
		having = all
	}
	slices.Sort(having)
	return slices.Compact(having)
}
