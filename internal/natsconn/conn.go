package natsconn

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/nats-io/nats.go"
)

// maxAsyncErrors is how many errors a Conn keeps: the first ones, which tell more
// than what follows from them.
const maxAsyncErrors = 100

// Conn is a connection to a cell.
type Conn struct {
	// Cell is the cell's name.
	Cell string
	// APIPrefix is where the JetStream API is, without a final dot.
	APIPrefix string

	// Functions, so that no way of printing reaches the client's options.
	nc    func() *nats.Conn
	async func() *asyncErrors
}

func newConn(nc *nats.Conn, async *asyncErrors) *Conn {
	return &Conn{nc: func() *nats.Conn { return nc }, async: func() *asyncErrors { return async }}
}

// NATS gives the client's connection. Its options hold secrets: do not print it.
func (c *Conn) NATS() *nats.Conn { return c.nc() }

// Close closes the connection.
func (c *Conn) Close() { c.nc().Close() }

// AsyncErrors gives what the server has told so far outside of replies, such as a
// permissions violation, oldest first, and at most the first 100. The client hands
// such errors on in its own time; the latest violation is here at once after a
// flush of the connection.
func (c *Conn) AsyncErrors() []error {
	list, last := c.async().list(), c.nc().LastError()
	same := func(err error) bool { return err.Error() == last.Error() }
	if errors.Is(last, nats.ErrPermissionViolation) && !slices.ContainsFunc(list, same) {
		list = append(list, last)
	}
	return list
}

// PermissionViolations gives those of AsyncErrors that are permission violations.
func (c *Conn) PermissionViolations() []error {
	return slices.DeleteFunc(c.AsyncErrors(), func(err error) bool {
		return !errors.Is(err, nats.ErrPermissionViolation)
	})
}

// String names the cell.
func (c Conn) String() string { return fmt.Sprintf("connection to cell %q", c.Cell) }

// GoString is String, for %#v.
func (c Conn) GoString() string { return c.String() }

// asyncErrors collects what comes without a caller to take it.
type asyncErrors struct {
	mu   sync.Mutex
	errs []error
}

func (a *asyncErrors) add(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err != nil && len(a.errs) < maxAsyncErrors {
		a.errs = append(a.errs, err)
	}
}

func (a *asyncErrors) list() []error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.errs)
}
