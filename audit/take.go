package audit

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// A Source is one cell to take a snapshot of.
type Source struct {
	Name string
	// Conn is for this source alone while the snapshot is taken: its error handler
	// is lent, and given back.
	Conn *nats.Conn
	// APIPrefix is the prefix of the JetStream API. Empty: $JS.API.
	APIPrefix string
	// Domain is the JetStream domain that the prefix stands for, if any.
	Domain string
	// Err says why there is no connection. The cell is then all missing.
	Err error
}

// TakeOptions say how to take a snapshot. The zero value takes everything.
type TakeOptions struct {
	// Known are the consumers to ask for by name where listing is denied, by
	// stream. An empty list asks for the stream alone.
	Known map[string][]string
	// Subjects asks every stream for its messages by subject, which is costly on
	// streams with many.
	Subjects bool
	// Timeout bounds each request. Zero: 5 s.
	Timeout time.Duration
	// Progress, unless nil, is told how many consumers of how many are read, over
	// all cells. It is called from several goroutines, one at a time.
	Progress func(done, total int)
}

// Take reads what cells have configured, all of them at once. What can not be
// read is told in the cell: the error is for a snapshot that can not be made at
// all, which today is only a context that ends.
func Take(ctx context.Context, sources []Source, o TakeOptions) (*Snapshot, error) {
	o.Timeout = cmp.Or(o.Timeout, 5*time.Second)
	s := &Snapshot{Schema: SnapshotSchema, TakenAt: time.Now().UTC().Truncate(time.Millisecond), Cells: make([]Cell, len(sources))}
	progress := &progress{report: o.Progress}
	var wg sync.WaitGroup
	for i := range sources {
		wg.Go(func() {
			t := &taker{source: &sources[i], o: o, cell: &s.Cells[i], progress: progress}
			t.take(ctx)
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("take snapshot: %w", err)
	}
	slices.SortStableFunc(s.Cells, func(a, b Cell) int { return cmp.Compare(a.Name, b.Name) })
	return s, nil
}

// taker reads one cell.
type taker struct {
	source   *Source
	o        TakeOptions
	cell     *Cell
	api      *apiConn
	progress *progress
}

func (t *taker) take(ctx context.Context) {
	t.cell.Name, t.cell.Domain = t.source.Name, t.source.Domain
	if t.source.Err != nil {
		t.missing("", "the cell", t.source.Err)
		return
	}
	api, err := newAPIConn(t.source.Conn, cmp.Or(t.source.APIPrefix, "$JS.API"), t.o.Timeout)
	if err != nil {
		t.missing("", "the cell", err)
		return
	}
	defer api.close()
	t.api = api
	t.cell.BrokerVersion = t.source.Conn.ConnectedServerVersion()
	t.cell.Cluster = t.source.Conn.ConnectedClusterName()
	if err := t.account(ctx); err != nil {
		t.missing("", theAccount, err)
		if !errors.Is(err, errDenied) {
			return // JetStream does not answer, so nothing else would
		}
	}
	t.streams(ctx)
	t.consumers(ctx)
	if t.o.Subjects {
		t.subjects(ctx)
	}
	t.cell.Complete = len(t.cell.Missing) == 0
}

// theAccount is what is missing where the account's info could not be read. It
// says nothing about what exists.
const theAccount = "the account"

func (t *taker) missing(stream, what string, err error) {
	t.cell.Missing = append(t.cell.Missing, Missing{Stream: stream, What: what, Reason: err.Error()})
}

// account reads the account's JetStream info and, where the server tells it, the
// account's name.
func (t *taker) account(ctx context.Context) error {
	raw, err := t.api.ask(ctx, "INFO", nil)
	if err != nil {
		return err
	}
	info := members{}
	if err := json.Unmarshal(raw, &info); err != nil {
		return fmt.Errorf("account info: %w", err)
	}
	delete(info, "type")
	var domain string
	if json.Unmarshal(info["domain"], &domain) == nil && domain != "" {
		t.cell.Domain = domain
	}
	if name := t.accountName(ctx); name != "" {
		if info["account"], err = json.Marshal(name); err != nil {
			return err
		}
	}
	t.cell.Account, err = json.Marshal(info)
	return err
}

// accountName asks who we are. Servers before 2.9 and restricted users do not
// get an answer, and then the name stays unknown.
func (t *taker) accountName(ctx context.Context) string {
	raw, err := t.api.askSubject(ctx, "$SYS.REQ.USER.INFO", nil)
	if err != nil {
		return ""
	}
	var info struct {
		Data struct {
			Account string `json:"account"`
		} `json:"data"`
	}
	if json.Unmarshal(raw, &info) != nil {
		return ""
	}
	return info.Data.Account
}

// progress counts over all cells.
type progress struct {
	mu          sync.Mutex
	done, total int
	report      func(done, total int)
}

func (p *progress) add(done, total int) {
	if p.report == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done, p.total = p.done+done, p.total+total
	p.report(p.done, p.total)
}
