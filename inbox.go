package failaware

import (
	"sync"
	"sync/atomic"

	"github.com/failaware/failaware/broadcast"
)

const (
	leastRing = 64
	// itemOverhead is what an item counts against the Backlog besides its payload,
	// as the machine reckons.
	itemOverhead = 64
)

// inbox holds the deliveries between the loop and the application. The loop
// stages the items of a turn, whose payloads stay in the machine's memory, and
// hands all over when the turn's state is published; the consumer borrows them in
// batches, and gives them back with its next call. Neither waits for the other, but
// for the moment of moving items. The machine hears from the loop what has been
// given back.
//
// It has no bound of its own: the machine stops its acknowledgements when more
// than the Backlog waits, and its incarnation ends when that lasts. The next one
// begins when half of it has been taken.
type inbox struct {
	limit int // the Backlog

	// Of the loop. Staged items stand in the ring behind its tail.
	staged int
	free   int        // places behind them that are known to be
	ended  []returned // what the machine was told last

	backlog atomic.Int64 // bytes that were handed over and not given back
	some    atomic.Bool  // the application has given items back

	mu       sync.Mutex
	ring     []item // from head to tail, and what is staged; its size is a power of two
	head     uint64 // the first that was not given back
	lent     uint64 // the first that is not borrowed
	tail     uint64
	life     uint32 // counts incarnations
	consumed tally  // given back since the loop last looked, of this incarnation
	returned []returned
	waiting  bool
	over     bool

	ready chan struct{} // the consumer is to look again
	busy  atomic.Bool   // there is a consumer
}

type item struct {
	Delivery
	loan broadcast.Loan // of the payload
	life uint32
}

func (i *item) weight() int64 { return int64(len(i.Payload) + itemOverhead) }

// tally is deliveries, as the machine wants to know them.
type tally struct{ bytes, count int }

// returned is loans that are equal, as those of consecutive items mostly are.
type returned struct {
	loan  broadcast.Loan
	count int
}

func newInbox(limit int) *inbox {
	return &inbox{limit: limit, ready: make(chan struct{}, 1), ring: make([]item, leastRing), free: leastRing}
}

// add returns the next item to stage, which is zero. It stays where it is until the
// next one is added.
func (b *inbox) add() *item {
	if b.free == 0 {
		b.makeRoom()
	}
	it := b.at(b.tail + uint64(b.staged))
	b.staged++
	b.free--
	return it
}

// makeRoom looks how much the consumer has given back, and doubles the ring if that
// is nothing.
func (b *inbox) makeRoom() {
	b.mu.Lock()
	defer b.mu.Unlock()
	end := b.tail + uint64(b.staged)
	if end-b.head == uint64(len(b.ring)) {
		old := b.ring
		b.ring = make([]item, 2*len(old))
		for i := b.head; i != end; i++ {
			*b.at(i) = old[i&uint64(len(old)-1)]
		}
	}
	b.free = len(b.ring) - int(end-b.head)
}

// handOver gives the staged items to the consumer. It reports whether that woke the
// consumer.
func (b *inbox) handOver() (woke bool) {
	if b.staged == 0 {
		return false
	}
	weight := int64(0)
	b.mu.Lock()
	for range b.staged {
		s := b.at(b.tail)
		s.life = b.life
		weight += s.weight()
		b.tail++
	}
	b.backlog.Add(weight)
	woke = b.waiting
	b.waiting = false
	b.mu.Unlock()
	b.staged = 0
	if woke {
		b.wake()
	}
	return woke
}

// at returns the place of an item.
func (b *inbox) at(i uint64) *item { return &b.ring[i&uint64(len(b.ring)-1)] }

func (b *inbox) wake() {
	select {
	case b.ready <- struct{}{}:
	default:
	}
}

// borrow gives back what was borrowed, and borrows what has come, up to the
// length of into. With nothing there, the consumer counts as waiting until ready
// tells it to look again, unless no more will come. eased tells that the loop is to hear at
// once of what was given back: its acknowledgements may wait for it.
func (b *inbox) borrow(into []Delivery) (n int, eased, over bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	eased = b.giveBack(b.lent)
	for n < len(into) && b.lent < b.tail {
		into[n] = b.at(b.lent).Delivery
		b.lent++
		n++
	}
	b.waiting = n == 0 && !b.over
	return n, eased, b.over
}

// giveBack takes items back, up to one that is or was borrowed. The lock is held.
func (b *inbox) giveBack(end uint64) (eased bool) {
	before := b.backlog.Load()
	weight := int64(0)
	for ; b.head < end; b.head++ {
		i := b.at(b.head)
		weight += i.weight()
		if i.life == b.life && i.Kind == Message {
			b.consumed.bytes += len(i.Payload)
			b.consumed.count++
			b.endLoan(i.loan)
		}
		*i = item{}
	}
	if weight > 0 {
		b.backlog.Add(-weight)
		b.some.Store(true)
		eased = before > int64(b.limit/2)
	}
	return eased
}

// endLoan notes that a loan has ended. The lock is held.
func (b *inbox) endLoan(l broadcast.Loan) {
	if n := len(b.returned); n > 0 && b.returned[n-1].loan == l {
		b.returned[n-1].count++
	} else if l != (broadcast.Loan{}) {
		b.returned = append(b.returned, returned{l, 1})
	}
}

// touched reports whether anything was ever borrowed.
func (b *inbox) touched() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.lent > 0
}

// unread makes the last n items that were borrowed as if they never were, and
// takes back all before them but one, whose payload may still be looked at.
func (b *inbox) unread(n int) (eased bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lent -= uint64(n)
	return b.giveBack(b.lent - 1)
}

// taken returns what the application has taken since the last call, and the loans
// that have ended, until the next one. Only the loop calls it.
func (b *inbox) taken() (t tally, ended []returned) {
	if !b.some.Load() {
		return t, nil
	}
	b.some.Store(false)
	clear(b.ended) // chunks that the machine has let go of
	b.mu.Lock()
	defer b.mu.Unlock()
	t, b.consumed = b.consumed, tally{}
	b.ended, b.returned = b.returned, b.ended[:0]
	return t, b.ended
}

// caughtUp reports whether little enough waits for another incarnation to begin.
func (b *inbox) caughtUp() bool { return b.backlog.Load() <= int64(b.limit/2) }

// restart begins the items of another incarnation: what is given back from now on
// of those before is no concern of the machine's, and goes with its memory to the
// collector. Only the loop calls it.
func (b *inbox) restart() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.life++
	b.consumed = tally{}
	clear(b.returned)
	b.returned = b.returned[:0]
}

// close says that no more will come.
func (b *inbox) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.over = true
	b.wake()
}
