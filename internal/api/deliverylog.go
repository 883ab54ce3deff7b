package api

import (
	"context"
	"iter"
	"sync"

	"github.com/failaware/failaware"
)

// Limits of the deliveries that a server keeps for its clients.
const (
	// MostKept is the limit of items kept.
	MostKept = 4096
	// MostKeptBytes is the limit of bytes of their payloads.
	MostKeptBytes = 16 << 20
)

// deliveryLog keeps the latest deliveries of a node for any number of clients. A client
// that falls behind learns the number of missed items. No client delays the node.
type deliveryLog struct {
	mu           sync.Mutex
	items        []item // numbered up to last
	last         uint64
	bytes        int
	messages     uint64        // messages ever
	payloadBytes uint64        // bytes of their payloads
	more         chan struct{} // closed at the next item
	ended        bool          // no more items will come
}

// item is a delivery, or an operation with its result.
type item struct {
	failaware.Delivery
	operation *Operation
}

func newDeliveryLog() *deliveryLog { return &deliveryLog{more: make(chan struct{})} }

// fill takes the node's deliveries until it stops, or ctx is done.
func (l *deliveryLog) fill(ctx context.Context, n *failaware.Node) {
	batch := make([]failaware.Delivery, 64)
	for {
		k, err := n.Receive(ctx, batch)
		l.add(batch[:k], err != nil)
		if err != nil {
			return
		}
	}
}

// add keeps copies of items, and drops the oldest.
func (l *deliveryLog) add(items []failaware.Delivery, over bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range items {
		l.items = append(l.items, item{Delivery: items[i].Clone()})
		l.bytes += len(items[i].Payload)
		l.last++
		if items[i].Change == nil {
			l.messages++
			l.payloadBytes += uint64(len(items[i].Payload))
		}
	}
	l.ended = l.ended || over
	l.trim()
}

// end says that no more items will come.
func (l *deliveryLog) end() { l.add(nil, true) }

// trim drops the oldest items, and wakes the readers that wait for new ones.
func (l *deliveryLog) trim() {
	drop := 0
	for ; len(l.items)-drop > MostKept || l.bytes > MostKeptBytes; drop++ {
		l.bytes -= len(l.items[drop].Payload)
		l.items[drop] = item{}
	}
	l.items = l.items[drop:]
	close(l.more)
	l.more = make(chan struct{})
}

// delivered returns the number of messages so far, and the total size of their payloads.
func (l *deliveryLog) delivered() (messages, bytes uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.messages, l.payloadBytes
}

// latest returns the sequence number of the last item.
func (l *deliveryLog) latest() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last
}

// get returns a copy of the item after seq, which is at most the number of the last item.
// missed is the number of items after seq that are no longer kept; d is nil if none is left.
// If there is no item after seq, ok is false, and more is closed at the next one, or is nil if
// no more will come.
func (l *deliveryLog) get(seq uint64) (d *item, missed uint64, ok bool, more <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if seq == l.last {
		if l.ended {
			return nil, 0, false, nil
		}
		return nil, 0, false, l.more
	}
	first := l.last - uint64(len(l.items)) + 1
	if seq+1 < first {
		missed = first - seq - 1
		if len(l.items) == 0 {
			return nil, missed, true, nil
		}
	}
	next := l.items[seq+missed+1-first]
	return &next, missed, true, nil
}

// numberedItem is an item with its number or, if missed is not 0, a count of missed items.
type numberedItem struct {
	item
	sequence, missed uint64
}

// since iterates over the items after a sequence number. With follow it waits for more
// at the end.
func (l *deliveryLog) since(ctx context.Context, seq uint64, follow bool) iter.Seq[numberedItem] {
	return func(yield func(numberedItem) bool) {
		if seq > l.latest() {
			seq = 0 // the number is of another run
		}
		for ctx.Err() == nil {
			d, missed, ok, more := l.get(seq)
			switch {
			case ok:
				seq += missed
				if missed > 0 && !yield(numberedItem{sequence: seq, missed: missed}) {
					return
				}
				if d == nil {
					continue
				}
				seq++
				if !yield(numberedItem{item: *d, sequence: seq}) {
					return
				}
			case more == nil || !follow:
				return
			default:
				select {
				case <-more:
				case <-ctx.Done():
				}
			}
		}
	}
}
