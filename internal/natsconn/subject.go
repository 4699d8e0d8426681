package natsconn

import (
	"fmt"
	"strings"
)

// defaultAPIPrefix is where JetStream's API is without a domain and a prefix.
const defaultAPIPrefix = "$JS.API"

// apiPrefix gives the API's prefix without a final dot. That both a domain and a
// prefix are given is an error, as it is in the nats tool's stream and consumer
// commands (jsm.go manager.go:87).
func (s *settings) apiPrefix() (string, error) {
	prefix := strings.TrimSuffix(s.jsAPIPrefix, ".")
	switch {
	case s.jsDomain != "" && s.jsAPIPrefix != "":
		return "", fmt.Errorf("JetStream domain %q and API prefix %q exclude each other", s.jsDomain, s.jsAPIPrefix)
	case s.jsDomain != "" && !isToken(s.jsDomain):
		return "", fmt.Errorf("JetStream domain %q is not one token of a subject", s.jsDomain)
	case s.jsDomain != "":
		return "$JS." + s.jsDomain + ".API", nil
	case s.jsAPIPrefix != "" && !isLiteral(prefix):
		return "", fmt.Errorf("API prefix %q is not a subject", s.jsAPIPrefix)
	case s.jsAPIPrefix != "":
		return prefix, nil
	}
	return defaultAPIPrefix, nil
}

func (s *settings) checkPrefixes() []error {
	var errs []error
	if s.inboxPrefix != "" && !isLiteral(s.inboxPrefix) {
		errs = append(errs, fmt.Errorf("inbox prefix %q is not a subject", s.inboxPrefix))
	}
	if event := strings.TrimSuffix(s.jsEventPrefix, "."); event == "" && s.jsEventPrefix != "" || event != "" && !isLiteral(event) {
		errs = append(errs, fmt.Errorf("event prefix %q is not a subject", s.jsEventPrefix))
	}
	return errs
}

// isToken says whether text is one token of a subject without wildcards.
func isToken(text string) bool {
	return text != "" && !strings.ContainsAny(text, ">*./\\ \t\r\n\x00")
}

// isLiteral says whether text is a subject without wildcards.
func isLiteral(text string) bool {
	for token := range strings.SplitSeq(text, ".") {
		if !isToken(token) {
			return false
		}
	}
	return true
}
