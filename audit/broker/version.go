package broker

import (
	"fmt"
	"strconv"
	"strings"
)

// A Version is a nats-server version. The zero Version is "not known".
type Version struct{ Major, Minor, Patch int }

// Newest is the version that the model was written against, and the one it
// assumes when a snapshot does not tell.
var Newest = Version{2, 15, 3}

// Lines lists the release lines that the model knows, oldest first. There is no
// 2.13.
func Lines() []Version {
	return []Version{{2, 9, 0}, {2, 10, 0}, {2, 11, 0}, {2, 12, 0}, {2, 14, 0}, {2, 15, 0}}
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

// Known says whether v is of a line that the model knows.
func (v Version) Known() bool {
	for _, l := range Lines() {
		if v.Major == l.Major && v.Minor == l.Minor {
			return true
		}
	}
	return false
}
