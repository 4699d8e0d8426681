package audit

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Show writes a field's value for a person: durations as Go does, lists in
// brackets, "-" for nothing.
func Show(v any) string {
	switch v := v.(type) {
	case nil:
		return "-"
	case time.Duration:
		return Duration(v)
	case []time.Duration:
		return showList(v, Duration)
	case []string:
		return showList(v, func(s string) string { return s })
	case time.Time:
		return v.UTC().Format(time.RFC3339Nano)
	case string:
		return v
	case bool, int, int64, int32, uint64, float64:
		return fmt.Sprint(v)
	case fmt.Stringer:
		return v.String()
	}
	if s := fmt.Sprint(v); !strings.ContainsAny(s, "{[&") {
		return s
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // subjects have > in them
	if err := enc.Encode(v); err != nil {
		return fmt.Sprint(v)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func showList[T any](list []T, show func(T) string) string {
	parts := make([]string, len(list))
	for i, v := range list {
		parts[i] = show(v)
	}
	return "[" + strings.Join(parts, " ") + "]"
}
