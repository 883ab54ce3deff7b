// Package sendqueue is the queue of broadcast messages from callers to a node's
// loop, and of their outcomes back to the callers that wait for them.
//
// Messages of the two classes have queues of their own: those without an order
// never wait for those with one. Ids are given here: the broadcast numbers the
// messages of a class in the order in which it gets them, and it gets them from
// here only. So it is here that the lanes of a class share it (lane.go).
package sendqueue

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/timed"
)

// ErrClosed is the error of messages for a node that leaves or has stopped.
var ErrClosed = errors.New("sendqueue: closed")

const (
	// classBytes is how much may wait for the loop in a class, payloads and
	// MessageOverhead for each: enough that one handover serves many messages, and
	// little against the broadcast's window behind it. A message is taken as soon as
	// less waits, however large it is, so that large ones do not starve. Lanes share it.
	classBytes = 128 << 10
	// MessageOverhead counts for each message besides its payload.
	MessageOverhead = 64
)

// Options configure a queue.
type Options struct {
	Self        timed.NodeID
	PacketBytes int // as that of the broadcast
	// Wake is called by a caller whose message the loop does not know of yet.
	Wake func()
}

// Queue is the queue. Callers run the code of callers.go, and the loop that of
// loop.go.
type Queue struct {
	opt Options // immutable

	spareWaiters sync.Pool // of *Waiter

	// Atomic.
	pending atomic.Bool    // something has come since the loop last looked
	awaited [2]atomic.Bool // by class: a caller waits for an outcome

	// Guarded by mu.
	mu      sync.Mutex
	boot    timed.BootID
	closed  bool
	refuses bool // the view has no quorum
	classes [2]classQueue
	waiters [2]waiters
}

// classQueue holds the messages of a class.
type classQueue struct {
	// Guarded by the mutex of the queue.
	last  uint64 // sequence given
	in    batch  // filled by callers
	slabs []slab // with room for payloads: the first is being filled
	byLane

	// Owned by the loop.
	out  batch
	next int            // message of out
	from broadcast.Slab // of the last message handed over that has one
}

// batch is messages, one after the other. The payloads of some stand in slabs.
type batch struct {
	bytes    []byte // payloads for which no slab had room
	messages []message
	weight   int
}

type message struct {
	slab broadcast.Slab // none: in the bytes of the batch
	at   int            // the first byte of the payload
	size int
	opt  broadcast.Options
}

func (b *batch) reset() {
	clear(b.messages) // or they would keep slabs of an earlier incarnation
	b.bytes, b.messages, b.weight = b.bytes[:0], b.messages[:0], 0
}

// New returns a queue.
func New(opt Options) *Queue {
	q := &Queue{opt: opt}
	for i := range q.classes {
		for l := range q.classes[i].room {
			q.classes[i].room[l] = make(chan struct{}, 1)
		}
	}
	return q
}

// passOn wakes the next caller of each lane that waits, if there is room or an error for
// it. Each wakes the next, so that they do not all run for the room of a few. The caller
// holds mu.
func (q *Queue) passOn(class broadcast.Class) {
	c := &q.classes[class]
	// Callers of both lanes may wait that have had too much.
	for c.in.weight == 0 && min(c.waiting[0], c.waiting[1]) > 0 && c.bytes[0] >= laneBytes[0] && c.bytes[1] >= laneBytes[1] {
		c.begin()
	}
	for l := range c.room {
		if c.waiting[l] > 0 && (c.fits(Lane(l)) || q.closed || q.refuses && class == broadcast.ClassOrdered) {
			select {
			case c.room[l] <- struct{}{}:
			default:
			}
		}
	}
}
