package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/nats-io/nats.go"
)

// rawSnapshot lists the streams and their consumers with as little as that
// takes: every request is out before the first reply is waited for, and of the
// replies only the names of streams and the paging are looked at. It returns how
// many bytes came.
func rawSnapshot(nc *nats.Conn) (int, error) {
	inbox := nc.NewInbox()
	sub, err := nc.SubscribeSync(inbox)
	if err != nil {
		return 0, err
	}
	defer sub.Unsubscribe() //nolint:errcheck // of a connection that ends with the benchmark
	if err := sub.SetPendingLimits(-1, -1); err != nil {
		return 0, err
	}
	r := &rawReader{nc: nc, sub: sub, inbox: inbox}
	names, err := r.streams()
	if err != nil {
		return 0, err
	}
	return r.bytes, r.consumers(names)
}

type rawReader struct {
	nc    *nats.Conn
	sub   *nats.Subscription
	inbox string
	bytes int
}

func (r *rawReader) ask(subject string, offset int) error {
	return r.nc.PublishRequest("$JS.API."+subject, r.inbox, []byte(`{"offset":`+strconv.Itoa(offset)+`}`))
}

func (r *rawReader) next() ([]byte, error) {
	m, err := r.sub.NextMsg(nats.DefaultTimeout * 5)
	if err != nil {
		return nil, err
	}
	r.bytes += len(m.Data)
	return m.Data, nil
}

func (r *rawReader) streams() ([]string, error) {
	if err := r.ask("STREAM.LIST", 0); err != nil {
		return nil, err
	}
	var names []string
	for {
		data, err := r.next()
		if err != nil {
			return nil, err
		}
		var page struct {
			Total   int
			Streams []struct{ Config struct{ Name string } }
		}
		if err := json.Unmarshal(data, &page); err != nil {
			return nil, err
		}
		for _, s := range page.Streams {
			names = append(names, s.Config.Name)
		}
		if len(page.Streams) == 0 || len(names) >= page.Total {
			return names, nil
		}
		if err := r.ask("STREAM.LIST", len(names)); err != nil {
			return nil, err
		}
	}
}

func (r *rawReader) consumers(streams []string) error {
	for _, s := range streams {
		if err := r.ask("CONSUMER.LIST."+s, 0); err != nil {
			return err
		}
	}
	for range streams {
		data, err := r.next()
		if err != nil {
			return err
		}
		total, limit, err := paging(data)
		if err != nil {
			return err
		}
		if total > limit {
			return fmt.Errorf("%d consumers need another page: the benchmark is not made for that", total)
		}
	}
	return nil
}

// paging finds the three numbers of the paging, which come before the items.
func paging(data []byte) (total, limit int, err error) {
	head := data[:min(len(data), 256)]
	for _, n := range []struct {
		key string
		to  *int
	}{{`"total":`, &total}, {`"limit":`, &limit}} {
		at := indexAfter(head, n.key)
		if at < 0 {
			return 0, 0, errors.New("a reply without paging")
		}
		for ; at < len(head) && head[at] >= '0' && head[at] <= '9'; at++ {
			*n.to = *n.to*10 + int(head[at]-'0')
		}
	}
	return total, limit, nil
}
