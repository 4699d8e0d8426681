package broker

import "fmt"

// An Outcome is what a broker would do with one declaration.
type Outcome string

// The outcomes.
const (
	Create    Outcome = "create"
	Noop      Outcome = "noop"
	Update    Outcome = "update"
	Reject    Outcome = "reject"
	Untouched Outcome = "untouched" // nothing is sent; what is live stays
	Unknown   Outcome = "unknown"   // the model cannot tell
)

// An APIError is the error that a broker answers with.
type APIError struct {
	Code        int    `json:"code"`     // HTTP-like: 400, 404, 500, 503
	ErrCode     int    `json:"err_code"` // the number to match on
	Description string `json:"description"`
}

// Error implements error. Some errors of the API have no err_code.
func (e *APIError) Error() string {
	if e.ErrCode == 0 {
		return e.Description
	}
	return fmt.Sprintf("%s (%d)", e.Description, e.ErrCode)
}

// A Kind says how to show a field's values to a person.
type Kind string

// The kinds.
const (
	KindValue    Kind = "value"    // number, text or boolean
	KindDuration Kind = "duration" // integer nanoseconds on the wire, or a list of them
	KindBytes    Kind = "bytes"
	KindObject   Kind = "object"
)
