package sendqueue

import (
	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/timed"
)

// Look says that the loop takes messages now: the next caller wakes it again.
func (q *Queue) Look() { q.pending.Store(false) }

// Refill gives the loop the messages that callers have queued in a class, once it
// has handed over all from before, and makes room for more. It reports whether there is a
// message for [Queue.HandOver].
func (q *Queue) Refill(class broadcast.Class, from slabs) bool {
	c := &q.classes[class]
	if c.next < len(c.out.messages) {
		return true
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	c.out.reset()
	c.out, c.in = c.in, c.out
	c.next = 0
	if len(c.out.messages) > 0 {
		c.begin()
		c.addSlabs(from)
	}
	q.passOn(class)
	return len(c.out.messages) > 0
}

// HandOver hands the next message of a class to the broadcast, if that takes it,
// and returns its weight. There must be one.
func (q *Queue) HandOver(class broadcast.Class, now timed.Instant, s machine) (weight int, err error) {
	c := &q.classes[class]
	m := &c.out.messages[c.next]
	if m.slab == (broadcast.Slab{}) {
		_, err = s.Broadcast(now, c.out.bytes[m.at:m.at+m.size], m.opt)
	} else {
		_, err = s.BroadcastSlab(now, m.slab, m.at, m.size, m.opt)
	}
	if err != nil {
		return 0, err
	}
	if m.slab != (broadcast.Slab{}) && m.slab != c.from {
		if c.from != (broadcast.Slab{}) {
			s.CloseSlab(c.from) // callers fill slabs one after the other
		}
		c.from = m.slab
	}
	c.next++
	return m.size + MessageOverhead, nil
}

// addSlabs gives callers slabs. The loop holds mu.
func (c *classQueue) addSlabs(from slabs) {
	for len(c.slabs) < classSlabs {
		b, mem := from.TakeSlab()
		c.slabs = append(c.slabs, slab{b, mem})
	}
}

// Restart begins the messages of another incarnation. Those queued for the last one
// end with it.
func (q *Queue) Restart(boot timed.BootID) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.boot, q.refuses = boot, false
	for class := range q.classes {
		c := &q.classes[class]
		c.last, c.next = 0, 0
		c.slabs, c.from = nil, broadcast.Slab{} // they belong to the last broadcast
		c.in.reset()
		c.out.reset()
		c.bytes = [lanes]int{}
		q.passOn(broadcast.Class(class))
	}
	q.loseAll(IncarnationEnded)
}

// Refuse says whether ordered messages are refused for lack of a quorum.
func (q *Queue) Refuse(refuses bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.refuses = refuses
	q.passOn(broadcast.ClassOrdered)
}

// Close refuses messages from now on. Outcomes may still come.
func (q *Queue) Close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.close()
}

func (q *Queue) close() {
	q.closed = true
	for class := range q.classes {
		q.passOn(broadcast.Class(class))
	}
}

// Stop ends all waits: the node has stopped.
func (q *Queue) Stop() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.close()
	q.loseAll(NodeStopped)
}

// Awaited reports whether a caller waits for an outcome in a class.
func (q *Queue) Awaited(class broadcast.Class) bool { return q.awaited[class].Load() }

// Resolve gives the outcomes of a turn to the callers that wait for them.
func (q *Queue) Resolve(outcomes []Outcome) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i := range outcomes {
		o := &outcomes[i]
		w := &q.waiters[o.Message.Class]
		if o.Lost == NotLost {
			w.deliver(o)
		} else {
			w.lose(o.Message.Sequence, o.Lost)
		}
		if len(w.list) == 0 {
			q.awaited[o.Message.Class].Store(false)
		}
	}
}

// loseAll ends all waits for outcomes. The caller holds mu.
func (q *Queue) loseAll(why Loss) {
	for class := range q.waiters {
		q.waiters[class].lose(broadcast.MaxSequence, why)
		q.awaited[class].Store(false)
	}
}

// deliver gives the outcome of a message to its waiter, if it has one.
func (w *waiters) deliver(o *Outcome) {
	if len(w.list) > 0 && w.list[0].sequence == o.Message.Sequence {
		w.pop(*o)
	}
}

// lose tells the waiters of messages through a sequence why the outcome is not
// known.
func (w *waiters) lose(through uint64, why Loss) {
	for len(w.list) > 0 && w.list[0].sequence <= through {
		w.pop(Outcome{Lost: why})
	}
}

func (w *waiters) pop(o Outcome) {
	w.list[0].Result <- o
	w.list[0] = nil
	if w.list = w.list[1:]; len(w.list) == 0 {
		w.list = nil
	}
}
