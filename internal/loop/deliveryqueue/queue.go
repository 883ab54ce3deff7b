// Package deliveryqueue is the queue of deliveries from a node's loop to the
// application.
//
// The loop stages the items of a turn, whose payloads stay in the broadcast's
// memory, and commits them once the state of the turn is published. The consumer
// borrows items in batches, and returns a batch by its next call. Neither side
// waits for the other except for the mutex, which each holds for a moment. The loop
// tells the broadcast what the consumer has returned.
//
// The queue has no bound of its own: the broadcast stops its acknowledgements when
// more than the limit waits, and its incarnation ends when that lasts. The next one
// begins when half of the limit has been taken.
package deliveryqueue

import (
	"sync"
	"sync/atomic"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/life"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// Kind tells items apart.
type Kind uint8

// The kinds of items.
const (
	Message        Kind = iota + 1 // Message was delivered in View
	Transition                     // View ends; messages up to the next Installed come with Change.Along
	Installed                      // View begins
	Lost                           // the outcome of messages from Change.From through Message.ID is unknown
	NewIncarnation                 // the incarnation Message.Boot begins
)

// Item is one step of the deliveries.
type Item struct {
	Kind Kind
	// Message is complete only if Kind says so. Otherwise its ID counts, with some
	// kinds.
	Message broadcast.Delivery
	View    *membership.View
	Change  *Change // nil for a message

	loan        broadcast.Loan // of the payload
	sum         uint64         // of the lent payload, if it is checked; 0: not lent yet
	incarnation uint32
}

// Change says more about an item that is no message.
type Change struct {
	Next     *membership.View
	Previous membership.ViewID
	Along    timed.Set
	Merged   []membership.Branch
	Base     []broadcast.Mark // of Installed: see [broadcast.Effect]
	// Quorum orders the messages of the incarnation that Installed is of, or that
	// NewIncarnation announces; nil: messages are ordered in all views. Epoch is what it
	// rules, if it may be replaced.
	Quorum quorum.System
	Epoch  uint64
	From   uint64
	Reason life.Reason
	// Remains, of NewIncarnation, is what the broadcast of the one before has acknowledged
	// and not delivered. It belongs to the receiver.
	Remains []broadcast.Delivery
}

const (
	minCapacity = 64   // of the ring
	mostSpare   = 1024 // places that an idle ring keeps
	// calmLooks is in how many turns of the loop, one after the other, no more than an eighth
	// of a ring was used before it becomes smaller.
	calmLooks = 1000
	// itemOverhead counts against the limit for each item besides its payload. The
	// broadcast counts the same.
	itemOverhead = 64
)

func (i *Item) weight() int64 { return int64(len(i.Message.Payload) + itemOverhead) }

// Queue is the queue.
type Queue struct {
	limit int64 // immutable
	check bool  // that lent payloads do not change; immutable

	// Owned by the loop. Staged items stand in the ring behind its tail.
	staged int
	spare  int      // places behind them that are known to be free
	most   uint64   // items that were in the ring at a time since the last look at it
	calm   int      // looks since the ring was full enough for its size
	ended  []Return // the last result of Returned

	// Atomic.
	backlog  atomic.Int64 // bytes that were committed and not returned
	returned atomic.Bool  // the consumer has returned items
	consumer atomic.Bool  // there is a consumer
	keeps    atomic.Bool  // it keeps a state over incarnations

	// Guarded by mu.
	mu          sync.Mutex
	ring        []Item // from head to tail, and staged ones; its length is a power of two
	head        uint64 // the first item that was not returned
	lent        uint64 // the first item that is not borrowed
	tail        uint64
	incarnation uint32
	taken       Taken    // returned since the loop last looked, of this incarnation
	returns     []Return // likewise
	waiting     bool     // the consumer waits for ready
	closed      bool

	ready chan struct{} // tells the consumer to look again
}

// Taken is how much the application has taken.
type Taken struct{ Bytes, Count int }

// Return is a number of equal loans that have ended. Those of consecutive items
// mostly are equal.
type Return struct {
	Loan  broadcast.Loan
	Count int
}

// New returns a queue for which more than limit bytes are too many. With check, a
// consumer that has changed a lent payload panics when it returns it.
func New(limit int, check bool) *Queue {
	return &Queue{limit: int64(limit), check: check, ready: make(chan struct{}, 1), ring: make([]Item, minCapacity), spare: minCapacity}
}

// at returns the place of an item.
func (q *Queue) at(i uint64) *Item { return &q.ring[i&uint64(len(q.ring)-1)] }

// Backlog returns how many bytes wait for the application or are borrowed.
func (q *Queue) Backlog() int64 { return q.backlog.Load() }

func (q *Queue) wake() {
	select {
	case q.ready <- struct{}{}:
	default:
	}
}
