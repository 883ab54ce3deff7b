package failaware

import (
	"sync"
	"sync/atomic"
)

const (
	// chunkBytes is the size of the chunks that payloads are copied into. Those that
	// are empty are kept for half of the Backlog: who lags by more is not in a steady
	// state.
	chunkBytes = 256 << 10
	leastRing  = 64
	// itemOverhead is what an item counts against the Backlog besides its payload,
	// as the machine reckons.
	itemOverhead = 64
)

// inbox holds the deliveries between the loop and the application. The loop
// stages the items of a turn, copies their payloads once, and hands all over when
// the turn's state is published; the consumer borrows them in batches, and gives
// them back with its next call. Neither waits for the other, but for the moment
// of moving items.
//
// It has no bound of its own: the machine stops its acknowledgements when more
// than the Backlog waits, and its incarnation ends when that lasts. The next one
// begins when half of it has been taken.
type inbox struct {
	limit int // the Backlog

	// Of the loop. Staged items stand in the ring behind its tail.
	staged  int
	free    int      // places behind them that are known to be
	chunk   *chunk   // payloads go here
	retired []*chunk // full in this turn

	backlog atomic.Int64 // bytes that were handed over and not given back
	some    atomic.Bool  // the application has given items back

	mu       sync.Mutex
	ring     []item // from head to tail, and what is staged; its size is a power of two
	head     uint64 // the first that was not given back
	lent     uint64 // the first that is not borrowed
	tail     uint64
	spare    []*chunk
	life     uint32 // counts incarnations
	consumed tally  // given back since the loop last looked, of this incarnation
	waiting  bool
	over     bool

	ready chan struct{} // the consumer is to look again
	busy  atomic.Bool   // there is a consumer
}

type item struct {
	Delivery
	home *chunk // of the payload
	life uint32
}

func (i *item) weight() int64 { return int64(len(i.Payload) + itemOverhead) }

// tally is deliveries, as the machine wants to know them.
type tally struct{ bytes, count int }

// chunk is memory for payloads.
type chunk struct {
	buf  []byte
	refs int // items in it, and one while it is being filled
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

// copied moves the payload of an item into memory of the inbox.
func (b *inbox) copied(i *item) {
	n := len(i.Payload)
	if n == 0 {
		return
	}
	if b.chunk == nil || len(b.chunk.buf)+n > cap(b.chunk.buf) {
		if b.chunk != nil {
			b.retired = append(b.retired, b.chunk)
		}
		b.chunk = b.fresh(n)
	}
	c := b.chunk
	at := len(c.buf)
	c.buf = append(c.buf, i.Payload...)
	i.Payload, i.home = c.buf[at:at+n:at+n], c
}

// fresh returns an empty chunk that has room for n bytes.
func (b *inbox) fresh(n int) *chunk {
	b.mu.Lock()
	defer b.mu.Unlock()
	if k := len(b.spare); k > 0 && n <= chunkBytes {
		c := b.spare[k-1]
		b.spare = b.spare[:k-1]
		return c
	}
	return &chunk{buf: make([]byte, 0, max(n, chunkBytes)), refs: 1}
}

// drop lets go of a reference. The lock is held.
func (b *inbox) drop(c *chunk) {
	c.refs--
	if c.refs == 0 && cap(c.buf) == chunkBytes && len(b.spare)*chunkBytes <= b.limit/2 {
		c.buf, c.refs = c.buf[:0], 1
		b.spare = append(b.spare, c)
	}
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
		if s.home != nil {
			s.home.refs++
		}
		weight += s.weight()
		b.tail++
	}
	for _, c := range b.retired {
		b.drop(c)
	}
	b.backlog.Add(weight)
	woke = b.waiting
	b.waiting = false
	b.mu.Unlock()
	clear(b.retired)
	b.staged, b.retired = 0, b.retired[:0]
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
		}
		if i.home != nil {
			b.drop(i.home)
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

// taken returns what the application has taken since the last call. Only the loop
// calls it.
func (b *inbox) taken() (t tally) {
	if !b.some.Load() {
		return t
	}
	b.some.Store(false)
	b.mu.Lock()
	defer b.mu.Unlock()
	t, b.consumed = b.consumed, tally{}
	return t
}

// caughtUp reports whether little enough waits for another incarnation to begin.
func (b *inbox) caughtUp() bool { return b.backlog.Load() <= int64(b.limit/2) }

// restart begins the items of another incarnation: what is given back from now on
// of those before is no concern of the machine's. Only the loop calls it.
func (b *inbox) restart() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.life++
	b.consumed = tally{}
}

// close says that no more will come.
func (b *inbox) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.over = true
	b.wake()
}
