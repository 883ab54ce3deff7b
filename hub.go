package failaware

import (
	"context"
	"iter"
	"sync/atomic"
	"time"
)

// hub keeps the latest events for any number of consumers. The loop is its only
// writer, and never waits for anybody: consumers follow at their own pace, and
// find out by the sequence numbers what they missed.
type hub struct {
	ring []atomic.Pointer[record]
	head atomic.Uint64                 // sequence of the latest event
	wait atomic.Pointer[chan struct{}] // closed at the next event; nil while nobody waits
	over chan struct{}                 // closed after the last event
}

type record struct {
	sequence uint64
	event    Event
}

func newHub(size int) *hub {
	return &hub{ring: make([]atomic.Pointer[record], size), over: make(chan struct{})}
}

// header returns the header of the next event. Only the loop calls it.
func (h *hub) header() EventHeader {
	return EventHeader{Sequence: h.head.Load() + 1, Time: time.Now()}
}

// add publishes the next event, which carries the header of before. Only the
// loop calls it.
func (h *hub) add(e Event) {
	seq := e.Header().Sequence
	h.ring[seq%uint64(len(h.ring))].Store(&record{seq, e})
	h.head.Store(seq)
	if w := h.wait.Swap(nil); w != nil {
		close(*w)
	}
}

// next returns a channel that is closed at the next event.
func (h *hub) next() <-chan struct{} {
	for {
		if w := h.wait.Load(); w != nil {
			return *w
		}
		w := make(chan struct{})
		if h.wait.CompareAndSwap(nil, &w) {
			return w
		}
	}
}

// get returns the event after a sequence number: it, or a Missed in place of
// those that are not kept any more. ok is false when there is none yet.
func (h *hub) get(seq uint64) (e Event, ok bool) {
	head, size := h.head.Load(), uint64(len(h.ring))
	if seq >= head {
		return nil, false
	}
	if head-seq <= size {
		if r := h.ring[(seq+1)%size].Load(); r.sequence == seq+1 {
			return r.event, true
		}
		head = h.head.Load() // it was overwritten just now
	}
	last := head - size // the latest one that is not kept
	return Missed{EventHeader{last, time.Now()}, last - seq}, true
}

// since iterates over the events after a sequence number.
func (h *hub) since(ctx context.Context, seq uint64) iter.Seq[Event] {
	return func(yield func(Event) bool) {
		seq := seq // each iteration starts there again
		if seq > h.head.Load() {
			seq = 0 // of another process
		}
		for {
			// The channel first: an event that comes after the look is then
			// sure to close it.
			wait, over := h.next(), isClosed(h.over)
			for ctx.Err() == nil {
				e, ok := h.get(seq)
				if !ok {
					break
				}
				seq = e.Header().Sequence
				if !yield(e) {
					return
				}
			}
			if over {
				return
			}
			select {
			case <-ctx.Done():
				return
			case <-wait:
			case <-h.over:
			}
		}
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// Events returns an iterator over the events from the call of Events on. It
// waits for events, and ends when ctx is done, or when the node has stopped and
// all events were delivered. Any number of consumers may iterate at the same
// time, each in its own goroutine. A consumer that falls behind by more than
// [Config.EventBuffer] events gets a [Missed] instead of the oldest ones; no
// consumer ever holds up the node.
func (n *Node) Events(ctx context.Context) iter.Seq[Event] {
	return n.hub.since(ctx, n.hub.head.Load())
}

// EventsSince is as [Node.Events], from the first event on that has a larger
// sequence number than seq and is still kept; 0 asks for all that are kept. A
// number that this process has not reached yet comes from another one, and
// counts as 0.
func (n *Node) EventsSince(ctx context.Context, seq uint64) iter.Seq[Event] {
	return n.hub.since(ctx, seq)
}
