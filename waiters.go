package failaware

import "sync"

// settled is the outcome of a message, or why it is not known. If it is not, ID
// stands for all messages of its class through its sequence.
type settled struct {
	Outcome
	unknown UnknownReason
}

// waiter waits for the outcome of one message.
type waiter struct {
	result   chan settled // room for one, so that nobody waits for the waiter
	sequence uint64
}

var spareWaiters = sync.Pool{New: func() any { return &waiter{result: make(chan settled, 1)} }}

func takeWaiter() *waiter { return spareWaiters.Get().(*waiter) }

// give lets the waiter be used again. Its result must have been taken, or nobody
// may know it.
func (w *waiter) give() { spareWaiters.Put(w) }

// waiters are those who wait for messages of one class, in the order of the
// sequences. Outcomes come in that order too: a sender's messages of a class
// never overtake each other.
type waiters struct{ list []*waiter }

func (w *waiters) add(x *waiter, sequence uint64) {
	x.sequence = sequence
	w.list = append(w.list, x)
}

// deliver tells the outcome of a message to who waits for it.
func (w *waiters) deliver(s *settled) {
	if len(w.list) > 0 && w.list[0].sequence == s.ID.Sequence {
		w.pop(*s)
	}
}

// lose tells those who wait for messages through a sequence why the outcome is
// not known.
func (w *waiters) lose(through uint64, why UnknownReason) {
	for len(w.list) > 0 && w.list[0].sequence <= through {
		w.pop(settled{unknown: why})
	}
}

func (w *waiters) pop(s settled) {
	w.list[0].result <- s
	w.list[0] = nil
	if w.list = w.list[1:]; len(w.list) == 0 {
		w.list = nil
	}
}
