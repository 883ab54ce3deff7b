package failaware

import (
	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/timed"
)

// laneSlabs is how many slabs callers have in a lane after the loop has looked: as
// much as comes into a lane until it looks again, and what is left of one, if
// messages are small. Of large ones more goes through the bytes of a parcel. As many
// that are full may wait for the loop to hand them over.
const laneSlabs = laneBytes/broadcast.SlabBytes + 1

// slab is memory of the machine to which callers copy payloads, so that they need
// not be copied again. Messages too large for it, or that come before the loop has
// given callers any, go through the bytes of a parcel.
type slab struct {
	broadcast.Slab
	mem []byte // up to its length there are payloads
}

// slabs is where slabs come from: the machine.
type slabs interface {
	TakeSlab() (broadcast.Slab, []byte)
}

// write leaves a payload in the lane. The lock is held.
func (l *lane) write(payload []byte, opt broadcast.Options) {
	e := message{size: len(payload), opt: opt}
	if s := l.slabFor(len(payload)); s != nil {
		e.slab, e.at = s.Slab, len(s.mem)
		s.mem = append(s.mem, payload...)
	} else {
		e.at = len(l.in.bytes)
		l.in.bytes = append(l.in.bytes, payload...)
	}
	l.in.each = append(l.in.each, e)
}

// slabFor returns the slab for the next n bytes, or nil. The lock is held.
func (l *lane) slabFor(n int) *slab {
	if n > broadcast.SlabBytes {
		return nil
	}
	for len(l.slabs) > 0 {
		if s := &l.slabs[0]; len(s.mem)+n <= cap(s.mem) {
			return s
		}
		k := copy(l.slabs, l.slabs[1:]) // the first is full
		l.slabs[k] = slab{}
		l.slabs = l.slabs[:k]
	}
	return nil
}

// spread gives callers slabs. The lock is held; only the loop calls it.
func (l *lane) spread(from slabs) {
	for len(l.slabs) < laneSlabs {
		b, mem := from.TakeSlab()
		l.slabs = append(l.slabs, slab{b, mem})
	}
}

// give hands the next message to the machine, if that takes it, and returns its
// weight. Only the loop calls it.
func (l *lane) give(now timed.Instant, s *stack.Stack) (weight int, err error) {
	e := &l.out.each[l.next]
	if e.slab == (broadcast.Slab{}) {
		_, err = s.Broadcast(now, l.out.bytes[e.at:e.at+e.size], e.opt)
	} else {
		_, err = s.BroadcastSlab(now, e.slab, e.at, e.size, e.opt)
	}
	if err != nil {
		return 0, err
	}
	if e.slab != (broadcast.Slab{}) && e.slab != l.from {
		if l.from != (broadcast.Slab{}) {
			s.CloseSlab(l.from) // callers fill slabs one after the other
		}
		l.from = e.slab
	}
	l.next++
	return e.size + laneOverhead, nil
}
