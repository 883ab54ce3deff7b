package sendqueue

import (
	"context"
	"fmt"

	"github.com/failaware/failaware/broadcast"
)

// place is a caller's place among those that wait for room.
type place uint8

const (
	arriving  place = iota // it has not waited
	waiting                // it is among those that wait
	overtaken              // it was woken and found no room
)

// Send queues a message in a lane, with a copy of the payload, and returns its id. While
// there is no room it waits until ctx is done, or fails at once with noWait: the error
// then matches [broadcast.ErrWindowFull] and the cause of ctx, if that ended the
// wait. Other errors are [broadcast.ErrNoQuorum] and [ErrClosed]. queued, if not nil, is
// called with the id of a message that was queued, before the loop can take it: it must not
// block, or use the queue. Send is safe for concurrent use.
func (q *Queue) Send(ctx context.Context, lane Lane, payload []byte, opt broadcast.Options, queued func(broadcast.ID), noWait bool) (broadcast.ID, error) {
	class := opt.Order.Class()
	for at := arriving; ; {
		id, first, err := q.put(lane, payload, opt, queued, !noWait, &at)
		if first {
			q.opt.Wake()
		}
		if err != broadcast.ErrWindowFull || noWait {
			return id, err
		}
		select {
		case <-q.classes[class].room[lane]:
		case <-ctx.Done():
			q.giveUp(class, lane, at)
			return broadcast.ID{}, fmt.Errorf("%w: %w", broadcast.ErrWindowFull, context.Cause(ctx))
		}
	}
}

// put queues a message. first says that the loop has to be woken. If its lane has no
// room and wait is set, the caller counts as waiting until its next call, which must
// have the place that this one gave it, or until giveUp.
//
// A caller that arrives may overtake one that was woken: that saves a switch of
// goroutines for every message. But a waiter can be overtaken at most once.
func (q *Queue) put(lane Lane, payload []byte, opt broadcast.Options, queued func(broadcast.ID), wait bool, at *place) (id broadcast.ID, first bool, err error) {
	class := opt.Order.Class()
	c := &q.classes[class]
	q.mu.Lock()
	defer q.mu.Unlock()
	was := *at
	c.leave(lane, was)
	switch {
	case q.closed:
		err = ErrClosed
	case q.refuses && class == broadcast.ClassOrdered:
		err = broadcast.ErrNoQuorum
	case !c.fits(lane) || was != overtaken && c.overtaken[lane] > 0:
		if wait {
			*at = min(was+1, overtaken)
			c.join(lane, *at)
		}
		err = broadcast.ErrWindowFull
	default:
		c.write(payload, opt)
		c.in.weight += len(payload) + MessageOverhead
		c.bytes[lane] += len(payload) + MessageOverhead
		c.last += q.fragments(len(payload))
		id = broadcast.ID{Sender: q.opt.Self, Boot: q.boot, Class: class, Sequence: c.last}
		if queued != nil {
			queued(id)
		}
		first = !q.pending.Swap(true)
	}
	q.passOn(class)
	return id, first, err
}

// fragments returns how many sequence numbers a payload takes. The broadcast counts
// the same.
func (q *Queue) fragments(n int) uint64 {
	return uint64(max(1, (n+q.opt.PacketBytes-1)/q.opt.PacketBytes))
}

// join counts a caller that waits.
func (c *classQueue) join(l Lane, at place) {
	c.waiting[l]++
	c.waited[l] = true
	if at == overtaken {
		c.overtaken[l]++
	}
}

// leave uncounts a caller that no longer waits at its place.
func (c *classQueue) leave(l Lane, at place) {
	if at != arriving {
		c.waiting[l]--
	}
	if at == overtaken {
		c.overtaken[l]--
	}
}

// giveUp ends a caller's wait for room.
func (q *Queue) giveUp(class broadcast.Class, lane Lane, at place) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.classes[class].leave(lane, at)
	q.passOn(class)
}

// write adds a message. The caller holds mu.
func (c *classQueue) write(payload []byte, opt broadcast.Options) {
	m := message{size: len(payload), opt: opt}
	if s := c.slabFor(len(payload)); s != nil {
		m.slab, m.at = s.Slab, len(s.mem)
		s.mem = append(s.mem, payload...)
	} else {
		m.at = len(c.in.bytes)
		c.in.bytes = append(c.in.bytes, payload...)
	}
	c.in.messages = append(c.in.messages, m)
}

// slabFor returns the slab for the next n bytes, or nil. The caller holds the
// queue's mutex.
func (c *classQueue) slabFor(n int) *slab {
	if n > broadcast.SlabBytes {
		return nil
	}
	for len(c.slabs) > 0 {
		if s := &c.slabs[0]; len(s.mem)+n <= cap(s.mem) {
			return s
		}
		k := copy(c.slabs, c.slabs[1:]) // the first is full
		c.slabs[k] = slab{}
		c.slabs = c.slabs[:k]
	}
	return nil
}

// NewWaiter returns a waiter. Waiters are used again by the callers of one queue only,
// because a channel belongs to the synctest bubble that made it.
func (q *Queue) NewWaiter() *Waiter {
	if w, ok := q.spareWaiters.Get().(*Waiter); ok {
		return w
	}
	w := &Waiter{Result: make(chan Outcome, 1)}
	w.Queued = func(id broadcast.ID) { q.await(w, id) }
	return w
}

// Free lets the waiter be used again. Its result must have been taken, or its
// message was never queued.
func (q *Queue) Free(w *Waiter) { q.spareWaiters.Put(w) }

// await has a waiter get the outcome of a message. The caller holds mu.
func (q *Queue) await(w *Waiter, id broadcast.ID) {
	w.sequence = id.Sequence
	of := &q.waiters[id.Class]
	of.list = append(of.list, w)
	q.awaited[id.Class].Store(true)
}
