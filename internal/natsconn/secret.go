package natsconn

import (
	"encoding/json"
	"log/slog"
	"strings"
)

// redacted is what stands for a secret in anything that is printed.
const redacted = "[redacted]"

// Secret is a string that prints as "[redacted]", or as "" when it is empty.
// Convert it to a string to use it.
type Secret string

// String hides the value.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return redacted
}

// GoString hides the value from %#v.
func (s Secret) GoString() string { return `"` + s.String() + `"` }

// MarshalJSON hides the value.
func (s Secret) MarshalJSON() ([]byte, error) { return json.Marshal(s.String()) }

// LogValue hides the value.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// showPath gives path for an error text, unless it does not look like a path:
// people put a seed or a whole credential where a file name belongs.
func showPath(path string) string {
	looksSecret := strings.HasPrefix(path, "eyJ") || strings.Contains(path, "-----") ||
		strings.ContainsAny(path, "\n\r\t") || len(path) > 512
	if looksSecret || !strings.ContainsAny(path, `/\.`) {
		return "(name not shown)"
	}
	return path
}
