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

// SubjectsCollide says whether some subject matches both a and b.
func SubjectsCollide(a, b string) bool {
	if a == b {
		return true
	}
	for a != "" && b != "" {
		var ta, tb string
		ta, a, _ = strings.Cut(a, ".")
		tb, b, _ = strings.Cut(b, ".")
		if ta == ">" || tb == ">" {
			return true
		}
		if ta != tb && ta != "*" && tb != "*" {
			return false
		}
	}
	return a == "" && b == ""
}

// SubjectWithin says whether every subject that matches a matches b.
func SubjectWithin(a, b string) bool {
	for a != "" && b != "" {
		var ta, tb string
		ta, a, _ = strings.Cut(a, ".")
		tb, b, _ = strings.Cut(b, ".")
		if tb == ">" {
			return true
		}
		if ta == ">" || ta == "*" && tb != "*" || ta != tb && tb != "*" {
			return false
		}
	}
	return a == "" && b == ""
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
