package broker

import (
	"slices"
	"strings"
)

// ValidSubject says whether s is a subject, wildcards allowed (sublist.go
// isValidSubject).
func ValidSubject(s string) bool {
	if s == "" {
		return false
	}
	full := false
	for token := range strings.SplitSeq(s, ".") {
		if token == "" || full || strings.ContainsAny(token, " \t\n\f\r") {
			return false
		}
		full = token == ">"
	}
	return true
}

// literalSubject says whether s has no wildcard token.
func literalSubject(s string) bool {
	for token := range strings.SplitSeq(s, ".") {
		if token == "*" || token == ">" {
			return false
		}
	}
	return true
}

// SubjectsCollide says whether some subject matches both a and b, as the broker
// decides it for anything that is no subject too (sublist.go:1396 of 2.15.3).
func SubjectsCollide(a, b string) bool {
	if a == b {
		return true
	}
	x, y := subjectWildcards(a), subjectWildcards(b)
	switch {
	case x == 0 && y == 0:
		return false
	case x == 0:
		return SubjectWithin(a, b)
	case y == 0:
		return SubjectWithin(b, a)
	}
	n, m := strings.Count(a, "."), strings.Count(b, ".")
	if n < m && x&fullWildcard == 0 || m < n && y&fullWildcard == 0 {
		return false
	}
	for more := true; more; {
		var ta, tb string
		var moreA, moreB bool
		ta, a, moreA = strings.Cut(a, ".")
		tb, b, moreB = strings.Cut(b, ".")
		if ta == "" || tb == "" || ta != tb && !wildcard(ta) && !wildcard(tb) {
			return false
		}
		more = moreA && moreB
	}
	return true
}

// The wildcards of a subject.
const (
	partialWildcard = 1 << iota
	fullWildcard
)

func subjectWildcards(s string) (found int) {
	for more := true; more; {
		var token string
		token, s, more = strings.Cut(s, ".")
		switch token {
		case "*":
			found |= partialWildcard
		case ">":
			found |= fullWildcard
		}
	}
	return found
}

func wildcard(token string) bool { return token == "*" || token == ">" }

// SubjectWithin says whether every subject that matches a matches b
// (sublist.go:1515 of 2.15.3).
func SubjectWithin(a, b string) bool {
	for {
		var ta, tb string
		var moreA, moreB bool
		ta, a, moreA = strings.Cut(a, ".")
		tb, b, moreB = strings.Cut(b, ".")
		switch {
		case tb == ">":
			return true
		case ta == "" || tb == "" || ta == ">" || ta == "*" && tb != "*" || ta != tb && tb != "*":
			return false
		case !moreA || !moreB:
			return moreA == moreB
		}
	}
}

// validAssetName says whether a stream or consumer may have the name (stream.go
// isValidAssetName).
func validAssetName(name string) bool {
	return name != "" && !strings.ContainsAny(name, " \t\r\n\f.*>\\/")
}

// reservedDestination says whether a push consumer may not deliver to s: a
// service's or a gateway's reply, JetStream's own subjects, also those of a
// domain (client.go:4450 and gateway.go:2497 of 2.15.3).
func reservedDestination(s string) bool {
	for _, prefix := range []string{"_GR_.", "$GR."} {
		if strings.HasPrefix(s, prefix) && len(s) > len(prefix) {
			return true
		}
	}
	if strings.HasPrefix(s, "_R_.") {
		return true
	}
	rest, ok := strings.CutPrefix(s, "$JS.")
	if !ok {
		return false
	}
	kind, rest, _ := strings.Cut(rest, ".")
	if slices.Contains([]string{"API", "ACK", "FC", "SNAPSHOT", "EVENT"}, kind) {
		return true
	}
	api, _, _ := strings.Cut(rest, ".")
	return api == "API"
}
