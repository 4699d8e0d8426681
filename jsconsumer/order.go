package jsconsumer

import "sync"

// order keeps messages of one key one after the other.
type order struct {
	mu     sync.Mutex
	queues map[string][]*held // of keys that are being worked on
}

// enter says whether a delivery can be handled now. If its key is busy it waits,
// and its lease is kept meanwhile.
func (o *order) enter(r *Runner, h *held) bool {
	d := r.delivery(&h.in)
	h.key = r.c.Key(d)
	o.mu.Lock()
	defer o.mu.Unlock()
	queue, busy := o.queues[h.key]
	if !busy {
		o.queues[h.key] = nil
		return true
	}
	h.watch = newWatch(r)
	h.watch.keep(d, r.timing.Load())
	o.queues[h.key] = append(queue, h)
	return false
}

// leave gives the key to the next that waits for it, nil if there is none.
func (o *order) leave(h *held) *held {
	o.mu.Lock()
	defer o.mu.Unlock()
	queue := o.queues[h.key]
	if len(queue) == 0 {
		delete(o.queues, h.key)
		return nil
	}
	o.queues[h.key] = queue[1:]
	return queue[0]
}
