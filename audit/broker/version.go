package broker

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Version is a nats-server version. The zero Version is "not known".
type Version struct{ Major, Minor, Patch int }

// Newest is the version that the model was written against, and the one it
// assumes when a snapshot does not tell.
var Newest = Version{2, 15, 3}

// Lines lists the release lines that the model knows, oldest first, each as its
// newest patch release, whatever that is. There is no 2.13.
func Lines() []Version {
	var all []Version
	for _, minor := range []int{9, 10, 11, 12, 14, 15} {
		all = append(all, Version{2, minor, lastPatch})
	}
	return all
}

// ParseVersion reads a version such as 2.14.4, v2.10.27, 2.15 or 2.15.0-RC.1. A
// part that is left out is the highest there can be: "2.12" is the end of its
// line.
func ParseVersion(s string) (Version, error) {
	text, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(s), "v"), "-")
	text, _, _ = strings.Cut(text, "+")
	parts := strings.Split(text, ".")
	if len(parts) < 2 || len(parts) > 3 {
		return Version{}, fmt.Errorf("%q is not a nats-server version such as 2.15.3", s)
	}
	nums := [3]int{0, 0, lastPatch}
	for i, p := range parts {
		n, err := strconv.Atoi(p)
		if err != nil || n < 0 {
			return Version{}, fmt.Errorf("%q is not a nats-server version such as 2.15.3", s)
		}
		nums[i] = n
	}
	return Version{nums[0], nums[1], nums[2]}, nil
}

const lastPatch = 999

// IsZero says that the version is not known.
func (v Version) IsZero() bool { return v == Version{} }

// String writes the version as nats-server does.
func (v Version) String() string {
	if v.Patch == lastPatch {
		return v.Line()
	}
	return fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Patch)
}

// Line is the release line, for example "2.14".
func (v Version) Line() string { return fmt.Sprintf("%d.%d", v.Major, v.Minor) }

// AtLeast says whether v is of line 2.minor or a later one.
func (v Version) AtLeast(minor int) bool {
	return v.Major > 2 || v.Major == 2 && v.Minor >= minor
}

// A Change is a behavior that came with a patch release.
type Change struct {
	What string // what brokers do from then on
	// First are the first versions that do so, one for each line that had others
	// before. Lines after the last of them do, too.
	First  []Version
	Source string // where it is in nats-server
}

// Between lists the behaviors that one of two versions of a line has and the
// other has not.
func Between(a, b Version) (all []Change) {
	for _, c := range Changes() {
		if a.Line() == b.Line() && a.has(&c) != b.has(&c) {
			all = append(all, c)
		}
	}
	return all
}

// has says whether v is after the change. Nil is how it has always been.
func (v Version) has(c *Change) bool {
	if c == nil {
		return true
	}
	for _, first := range slices.Backward(c.First) {
		if v.Minor == first.Minor && v.Major == first.Major {
			return v.Patch >= first.Patch
		}
		if v.AtLeast(first.Minor) {
			return true
		}
	}
	return false
}

// Known says whether v is of a line that the model knows.
func (v Version) Known() bool {
	for _, l := range Lines() {
		if v.Major == l.Major && v.Minor == l.Minor {
			return true
		}
	}
	return false
}
