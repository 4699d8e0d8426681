package broker

import "strings"

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

// reservedDestination says whether a push consumer may not deliver to s
// (consumer.go isReservedDestination: the JetStream API and service replies).
func reservedDestination(s string) bool {
	for _, prefix := range []string{"$JS.API.", "$JS.ACK.", "$JSC.", "$NRG.", "$JS.FC.", "_R_.", "_GR_.", "$GR."} {
		if strings.HasPrefix(s, prefix) {
			return true
		}
	}
	return false
}
