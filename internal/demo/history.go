package demo

import (
	"context"
	"iter"
	"sync"
	"time"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/event"
	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/eventring"
)

// history keeps the latest events of all nodes, and faults, for the page. The journal
// merges the same events for the terminal.
type history struct {
	mu   sync.Mutex // of those who add
	ring *eventring.Ring[happening]
}

// happening is an event of a node, or a fault.
type happening struct {
	at    time.Time
	node  failaware.NodeID // none for a fault
	event event.Event      // nil for a fault
	fault string
}

// historySize is how many happenings are kept.
const historySize = 4096

func newHistory() *history { return &history{ring: eventring.New[happening](historySize)} }

func (h *history) add(x happening) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ring.Add(x)
}

// since returns the wire forms of the happenings after a sequence number, with their own
// numbers, until ctx is done. A reader that is too slow gets the number of missed ones.
func (h *history) since(ctx context.Context, seq uint64) iter.Seq2[uint64, api.Event] {
	return func(yield func(uint64, api.Event) bool) {
		seq := seq
		if seq > h.ring.Last() {
			seq = 0
		}
		for h.ring.Wait(ctx, seq) {
			x, at, missed, ok := h.ring.After(seq)
			if !ok {
				continue
			}
			seq = at
			w := api.Event{Time: x.at.UTC(), Kind: kindFault, Text: x.fault}
			switch {
			case missed > 0:
				w = api.EventOf(event.Missed{Header: event.Header{Time: time.Now()}, Count: missed}, 0, "")
			case x.event != nil:
				w = api.EventOf(x.event, x.node, "")
			}
			if !yield(at, w) {
				return
			}
		}
	}
}
