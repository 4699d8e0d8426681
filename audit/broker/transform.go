package broker

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Mistakes in a subject transform, in the broker's words (errors.go:228 of
// 2.15.3).
var (
	errBadSubject = errors.New("invalid subject")

	errTransform       = errors.New("invalid mapping destination: invalid transform")
	errUnknownFunction = errors.New("invalid mapping destination: unknown function")
	errWildcards       = errors.New("invalid mapping destination: not using all of the token wildcard(s)")
	errIndexRange      = errors.New("invalid mapping destination: wildcard index out of range")
	errFewArgs         = errors.New("invalid mapping destination: not enough arguments passed to the function")
	errManyArgs        = errors.New("invalid mapping destination: too many arguments passed to the function")
	errBadArg          = errors.New("invalid mapping destination: function argument is invalid or in the wrong format")
	errNotAvailable    = errors.New("invalid mapping destination: function is not available in this context")
)

// inToken says in which token of the destination the mistake is.
func (v Version) inToken(token string, err error) error {
	if token == "" && v.has(&wordless) {
		return err
	}
	return fmt.Errorf("%w in %s", err, token)
}

// validateMapping refuses a destination that can not be made of the source
// (sublist.go:1322 of 2.15.3). Before 2.11 it looks at the destination alone.
func (v Version) validateMapping(src, dest string) error {
	if dest == "" {
		return nil
	}
	full := false
	for token := range strings.SplitSeq(dest, ".") {
		if token == "" || full {
			return v.inToken(token, errTransform)
		}
		if isFunction(token) {
			if err := v.knownFunction(token); err != nil {
				return err
			}
			continue
		}
		full = token == ">"
		if strings.ContainsAny(token, "\t\n\f\r ") {
			return errTransform
		}
	}
	if !v.AtLeast(11) {
		return nil
	}
	return v.newTransform(src, dest)
}

func isFunction(token string) bool {
	return len(token) > 4 && strings.HasPrefix(token, "{{") && strings.HasSuffix(token, "}}")
}

var accountFunction = regexp.MustCompile(`{{\s*[aA]ccount-[hH]ash(-[iI]mport|-[lL]eaf-[rR]emote)?\s*\((.*)\)\s*}}`)

func (v Version) knownFunction(token string) error {
	if v.has(&accountFunctions) && accountFunction.MatchString(token) {
		return v.inToken(token, errNotAvailable)
	}
	for i := range mappingFunctions {
		if f := &mappingFunctions[i]; v.has(f.validated) && f.call.MatchString(token) {
			return nil
		}
	}
	return v.inToken(token, errUnknownFunction)
}

// newTransform says why no transform can be made of a pair of subjects
// (subject_transform.go:82 of 2.15.3).
func (v Version) newTransform(src, dest string) error {
	if v.AtLeast(10) && dest == "" {
		return nil
	}
	if v.AtLeast(10) && src == "" {
		src = ">"
	}
	from, to := subjectShape(src), subjectShape(dest)
	if !from.valid || !to.valid || to.partial > 0 || from.full != to.full {
		return errBadSubject
	}
	if from.partial == 0 && !from.full {
		return v.literalTransform(dest)
	}
	used := 0
	for token := range strings.SplitSeq(dest, ".") {
		call, err := v.readFunction(token)
		if err != nil {
			return err
		}
		if call.kind != noFunction && from.partial == 0 && v.AtLeast(10) && !v.AtLeast(12) {
			return v.inToken(token, errIndexRange)
		}
		used += len(call.indexes)
		for _, n := range call.indexes {
			if n > from.partial {
				return v.inToken(fmt.Sprintf("%s: [%d]", token, n), errIndexRange)
			}
		}
	}
	if !v.AtLeast(10) && used < from.partial {
		return v.inToken(dest, errWildcards)
	}
	return nil
}

// literalTransform is about a source without wildcards: no function can take
// anything from it.
func (v Version) literalTransform(dest string) error {
	if !v.AtLeast(10) {
		return nil
	}
	for token := range strings.SplitSeq(dest, ".") {
		call, err := v.readFunction(token)
		switch {
		case err != nil:
			return err
		case call.kind == noFunction, v.AtLeast(12) && call.kind == countingFunction:
		default:
			return v.inToken(token, errIndexRange)
		}
	}
	return nil
}

type shape struct {
	valid, full bool
	partial     int // wildcards of one token
}

// subjectShape is lax about white space (sublist.go subjectInfo).
func subjectShape(s string) shape {
	r := shape{valid: s != ""}
	for token := range strings.SplitSeq(s, ".") {
		if token == "" || r.full {
			return shape{}
		}
		switch token {
		case ">":
			r.full = true
		case "*":
			r.partial++
		}
	}
	return r
}

// The kinds of tokens in a destination.
type functionKind int

const (
	noFunction       functionKind = iota
	takingFunction                // of wildcards
	countingFunction              // that does without: partition and random
)

// A functionCall is one token of a destination.
type functionCall struct {
	kind    functionKind
	indexes []int // the wildcards that it takes
}

type mappingFunction struct {
	call             *regexp.Regexp
	since, validated *Change // from when it is carried out, and taken in a check; nil: always
	read             func(Version, []string) (functionCall, error)
}

func function(name string, since, validated *Change, read func(Version, []string) (functionCall, error)) mappingFunction {
	return mappingFunction{regexp.MustCompile(`{{\s*` + name + `\s*\((.*)\)\s*}}`), since, validated, read}
}

// mappingFunctions are in the broker's order (subject_transform.go:238 of
// 2.15.3).
var mappingFunctions = []mappingFunction{
	function(`[wW]ildcard`, nil, nil, wildcardCall),
	function(`[pP]artition`, nil, nil, partitionCall),
	function(`[sS]plit[fF]rom[lL]eft`, nil, nil, positionCall),
	function(`[sS]plit[fF]rom[rR]ight`, nil, nil, positionCall),
	function(`[sS]lice[fF]rom[lL]eft`, nil, nil, positionCall),
	function(`[sS]lice[fF]rom[rR]ight`, nil, nil, positionCall),
	function(`[rR]ight`, &shortFunctions, &shortChecked, positionCall),
	function(`[lL]eft`, &shortFunctions, &shortChecked, positionCall),
	function(`[sS]plit`, nil, nil, splitCall),
	function(`[rR]andom`, &randomFunction, &randomFunction, randomCall),
}

// readFunction reads one token of a destination.
func (v Version) readFunction(token string) (functionCall, error) {
	if len(token) > 1 && token[0] == '$' {
		if n, err := strconv.Atoi(token[1:]); err == nil {
			return functionCall{takingFunction, []int{n}}, nil
		}
		return functionCall{}, nil // other things begin with a $
	}
	if !isFunction(token) {
		return functionCall{}, nil
	}
	if v.has(&accountFunctions) && accountFunction.MatchString(token) {
		return functionCall{}, v.inToken(token, errNotAvailable)
	}
	for i := range mappingFunctions {
		f := &mappingFunctions[i]
		if m := f.call.FindStringSubmatch(token); m != nil && v.has(f.since) {
			call, err := f.read(v, commas.Split(m[1], -1))
			if err != nil {
				return call, v.inToken(token, err)
			}
			return call, nil
		}
	}
	return functionCall{}, v.inToken(token, errUnknownFunction)
}

var commas = regexp.MustCompile(`,\s*`)

func number(arg string) (int, error) {
	n, err := strconv.Atoi(strings.Trim(arg, " "))
	if err != nil {
		return 0, errBadArg
	}
	return n, nil
}

// count is a number that the broker keeps in 32 bits; before 2.12 it cuts it.
func (v Version) count(arg string) error {
	n, err := number(arg)
	if err == nil && n > 1<<31-1 && v.AtLeast(12) {
		return errBadArg
	}
	return err
}

func wildcardCall(_ Version, args []string) (functionCall, error) {
	if len(args) > 1 {
		return functionCall{}, errManyArgs
	}
	if args[0] == "" {
		return functionCall{}, errFewArgs
	}
	n, err := number(args[0])
	return functionCall{takingFunction, []int{n}}, err
}

func partitionCall(v Version, args []string) (functionCall, error) {
	if len(args) < 2 && !v.AtLeast(12) {
		return functionCall{}, errFewArgs
	}
	call := functionCall{kind: countingFunction}
	if err := v.count(args[0]); err != nil {
		return call, err
	}
	for _, arg := range args[1:] {
		n, err := number(arg)
		if err != nil {
			return call, err
		}
		call.indexes = append(call.indexes, n)
	}
	return call, nil
}

// positionCall is a wildcard and a position in it.
func positionCall(v Version, args []string) (functionCall, error) {
	n, err := takeTwo(args)
	if err != nil {
		return functionCall{}, err
	}
	bits := 32
	if !v.AtLeast(11) {
		bits = 64
	}
	if _, err := strconv.ParseInt(strings.Trim(args[1], " "), 10, bits); err != nil {
		return functionCall{}, errBadArg
	}
	return functionCall{takingFunction, []int{n}}, nil
}

func splitCall(_ Version, args []string) (functionCall, error) {
	n, err := takeTwo(args)
	if err == nil && strings.ContainsAny(args[1], " .") {
		err = errBadArg
	}
	return functionCall{takingFunction, []int{n}}, err
}

func randomCall(v Version, args []string) (functionCall, error) {
	if len(args) != 1 {
		return functionCall{}, errFewArgs
	}
	return functionCall{kind: countingFunction}, v.count(args[0])
}

func takeTwo(args []string) (int, error) {
	switch {
	case len(args) < 2:
		return 0, errFewArgs
	case len(args) > 2:
		return 0, errManyArgs
	}
	return number(args[0])
}
