package natsconn

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"slices"
	"strings"
)

// scheme gives a reference's scheme, in lower case; a single letter is a drive,
// not a scheme.
func scheme(ref string) string {
	u, err := url.Parse(ref)
	if err != nil || len(u.Scheme) < 2 {
		return ""
	}
	return u.Scheme
}

// rest gives what follows the scheme of a reference.
func rest(ref, scheme, separator string) string {
	cut := len(scheme) + len(separator)
	if len(ref) < cut || !strings.EqualFold(ref[:cut], scheme+separator) {
		return ref
	}
	return ref[cut:]
}

// resolver reads what references point to.
type resolver struct {
	env           Env
	allowPrograms bool
}

// literal gives the value of a password, token, JWT or seed: what it refers to if
// it has a known scheme, and else itself.
func (r resolver) literal(ctx context.Context, field, ref string) (string, error) {
	if !slices.Contains([]string{"file", "env", "data", "op", "nsc"}, scheme(ref)) {
		return ref, nil
	}
	data, err := r.bytes(ctx, field, ref)
	return strings.TrimRight(string(data), "\r\n"), err
}

// bytes reads what creds or nkey refer to: a file, unless there is a scheme.
func (r resolver) bytes(ctx context.Context, field, ref string) ([]byte, error) {
	switch scheme(ref) {
	case "", "file":
		return readFile(field, r.path(ref))
	case "env":
		return r.variable(field, rest(ref, "env", "://"))
	case "data":
		return inline(field, rest(ref, "data", ":"))
	case "op":
		return r.onePassword(ctx, field, ref)
	case "nsc":
		return r.nscCreds(ctx, field, ref)
	}
	return nil, fmt.Errorf("%s: the scheme of the reference is none of file, env, data, op and nsc", field)
}

// check tells what is wrong with a reference that is known without reading a file
// or running a program.
func (r resolver) check(field, ref string, literal bool) error {
	switch scheme(ref) {
	case "", "file":
		return nil
	case "op", "nsc":
		return r.mayRun(field, scheme(ref))
	case "env", "data":
		_, err := r.bytes(context.Background(), field, ref)
		return err
	}
	if literal {
		return nil
	}
	_, err := r.bytes(context.Background(), field, ref)
	return err
}

// path gives the path of a file reference.
func (r resolver) path(ref string) string { return r.env.expandPath(rest(ref, "file", "://")) }

func (r resolver) variable(field, name string) ([]byte, error) {
	value, found := r.env.lookup(name)
	if !found {
		return nil, fmt.Errorf("%s: environment variable %q is not set", field, name)
	}
	if value == "" {
		return nil, fmt.Errorf("%s: environment variable %q is empty", field, name)
	}
	return []byte(value), nil
}

// inline decodes what follows "data:". No error of the decoder is passed on, for
// it could show a piece of the payload.
func inline(field, text string) ([]byte, error) {
	header, payload, found := strings.Cut(text, ",")
	if !found || !slices.Contains(strings.Split(header, ";"), "base64") {
		return nil, fmt.Errorf("%s: a data reference starts with \"data:;base64,\"", field)
	}
	data, err := base64.StdEncoding.DecodeString(payload)
	if err != nil {
		return nil, fmt.Errorf("%s: the data reference is not valid base64", field)
	}
	return data, nil
}

// readFile reads a file for a field. The error leaves out a name that may be a
// secret in the wrong place.
func readFile(field, path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if inner, ok := errors.AsType[*fs.PathError](err); ok {
		err = inner.Err
	}
	if err != nil {
		return nil, fmt.Errorf("%s: read %s: %w", field, showPath(path), err)
	}
	return data, nil
}
