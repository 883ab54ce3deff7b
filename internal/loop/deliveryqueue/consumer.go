package deliveryqueue

import (
	"fmt"
	"hash/maphash"

	"github.com/failaware/failaware/broadcast"
)

// Acquire makes the caller the one consumer, unless there is another.
func (q *Queue) Acquire() bool { return q.consumer.CompareAndSwap(false, true) }

// Release lets somebody else be the consumer.
func (q *Queue) Release() { q.consumer.Store(false) }

// Keep says that the application keeps the results of deliveries over incarnations, so that
// no message of an earlier incarnation may come again.
func (q *Queue) Keep() { q.keeps.Store(true) }

// Ready tells the consumer to call Borrow again after it got nothing.
func (q *Queue) Ready() <-chan struct{} { return q.ready }

// Borrow returns the items borrowed before, and borrows up to max of those that
// have come. With none there, the consumer counts as waiting until [Queue.Ready]
// tells it to look again, unless the queue is closed. eased says that the loop
// should hear of the returned items at once: its acknowledgements may wait for them.
// The slice is valid until the next call of Borrow or Unread.
func (q *Queue) Borrow(max int) (items []Item, eased, closed bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	eased = q.giveBack(q.lent)
	return q.lend(max), eased, q.closed
}

// BorrowMore is Borrow that returns nothing: the items borrowed before still count as
// waiting. Their slices are not valid any more.
func (q *Queue) BorrowMore(max int) (items []Item, closed bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.lend(max), q.closed
}

// lend lends up to max items. The caller holds mu.
func (q *Queue) lend(max int) (items []Item) {
	// One slice holds the items up to the end of the ring at most.
	from := int(q.lent & uint64(len(q.ring)-1))
	n := min(max, int(q.tail-q.lent), len(q.ring)-from)
	q.lent += uint64(n)
	q.waiting = n == 0 && !q.closed
	items = q.ring[from : from+n]
	if q.check {
		for i := range items {
			items[i].seal()
		}
	}
	return items
}

// giveBack returns items before end, all of which were borrowed. The caller holds
// mu.
func (q *Queue) giveBack(end uint64) (eased bool) {
	before := q.backlog.Load()
	weight := int64(0)
	for ; q.head < end; q.head++ {
		i := q.at(q.head)
		if q.check {
			i.verify()
		}
		weight += i.weight()
		if i.incarnation == q.incarnation && i.Kind == Message {
			q.taken.Bytes += len(i.Message.Payload)
			q.taken.Count++
			q.endLoan(i.loan)
		}
		*i = Item{}
	}
	if weight > 0 {
		q.backlog.Add(-weight)
		q.returned.Store(true)
		eased = before > q.limit/2
	}
	return eased
}

var seed = maphash.MakeSeed()

// seal notes the sum of a payload that is lent, unless it was lent before.
func (i *Item) seal() {
	if i.sum == 0 {
		i.sum = maphash.Bytes(seed, i.Message.Payload) | 1
	}
}

// verify panics if a payload has changed since it was lent.
func (i *Item) verify() {
	if i.sum != maphash.Bytes(seed, i.Message.Payload)|1 {
		panic(fmt.Sprintf("failaware: the application has changed the payload of message %v, which it had borrowed to read", i.Message.ID))
	}
}

// endLoan notes that a loan has ended. The caller holds mu.
func (q *Queue) endLoan(l broadcast.Loan) {
	if n := len(q.returns); n > 0 && q.returns[n-1].Loan == l {
		q.returns[n-1].Count++
	} else if l != (broadcast.Loan{}) {
		q.returns = append(q.returns, Return{l, 1})
	}
}

// Unread makes the last n borrowed items unborrowed, and returns all before them
// except one, whose payload the application may still look at. eased is as with
// [Queue.Borrow].
func (q *Queue) Unread(n int) (eased bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.lent -= uint64(n)
	return q.giveBack(q.lent - 1)
}

// Touched reports whether anything was ever borrowed.
func (q *Queue) Touched() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.lent > 0
}
