package failaware

import (
	"sync"
	"sync/atomic"

	"github.com/failaware/failaware/broadcast"
)

// laneBytes is how much may wait for the loop in a lane, payloads and
// laneOverhead for each: enough that handing over costs little for each message,
// and little against the window that comes behind. A message is taken as soon as
// less waits, however large it is: large ones do not starve.
const (
	laneBytes    = 128 << 10
	laneOverhead = 64
)

// outlet is where callers leave messages for the loop. Ids are given here: the
// machine numbers the messages of a class in the order in which it gets them,
// and gets them from here only.
type outlet struct {
	self        NodeID
	maxPayload  int
	packetBytes int

	some    atomic.Bool    // something has come since the loop last looked
	awaited [2]atomic.Bool // somebody waits for outcomes

	mu      sync.Mutex
	boot    BootID
	closed  bool
	refuses bool // the view has no quorum
	lanes   [2]lane
	waiters [2]waiters
}

// lane holds the messages of a class: those without an order never wait for those
// with one.
type lane struct {
	last    uint64 // sequence given
	in      parcel // filled by callers
	slabs   []slab // with room for payloads: the first is being filled
	waiting int    // callers that wait for room
	passed  int    // of them, those that were called and found none: others had been faster
	room    chan struct{}

	// Of the loop.
	out  parcel
	next int            // message of out
	from broadcast.Slab // of the last message handed over that has one
}

// parcel is messages, one after the other. The payloads of some stand in slabs.
type parcel struct {
	bytes  []byte // payloads for which no slab had room
	each   []message
	weight int
}

type message struct {
	slab broadcast.Slab // none: in the bytes of the parcel
	at   int            // the first byte of the payload
	size int
	opt  broadcast.Options
}

func (p *parcel) reset() {
	clear(p.each) // slabs of an incarnation that is over are not kept
	p.bytes, p.each, p.weight = p.bytes[:0], p.each[:0], 0
}

func newOutlet(id NodeID, c *BroadcastConfig) *outlet {
	o := &outlet{self: id, maxPayload: c.MaxPayload, packetBytes: c.PacketBytes}
	for i := range o.lanes {
		o.lanes[i].room = make(chan struct{}, 1)
	}
	return o
}

// fragments returns how many sequence numbers a payload takes, as the machine
// reckons.
func (o *outlet) fragments(n int) uint64 {
	return uint64(max(1, (n+o.packetBytes-1)/o.packetBytes))
}

// place is a caller's place among those that wait for room in a lane.
type place uint8

const (
	comes  place = iota // it has not waited
	waits               // it is among those that wait
	passed              // it was called and found no room
)

// put leaves a message. first tells that the loop has to be woken. Who finds the
// lane full and is to wait is counted as waiting until its next call, with the
// place that this one gave it, or unwait.
//
// Who comes along may be faster than who is called: that saves a switch of
// goroutines for every message. But who was passed by once is not passed by again.
func (o *outlet) put(payload []byte, opt broadcast.Options, w *waiter, wait bool, at *place) (id MessageID, first bool, err error) {
	class := opt.Order.Class()
	l := &o.lanes[class]
	o.mu.Lock()
	defer o.mu.Unlock()
	was := *at
	l.leave(was)
	switch {
	case o.closed:
		err = ErrClosed
	case o.refuses && class == broadcast.ClassOrdered:
		err = ErrNoQuorum
	case l.in.weight >= laneBytes || was != passed && l.passed > 0:
		if wait {
			*at = min(was+1, passed)
			l.join(*at)
		}
		err = ErrWindowFull
	default:
		l.write(payload, opt)
		l.in.weight += len(payload) + laneOverhead
		l.last += o.fragments(len(payload))
		id = MessageID{Sender: o.self, Boot: o.boot, Class: class, Sequence: l.last}
		if w != nil {
			o.waiters[class].add(w, l.last)
			o.awaited[class].Store(true)
		}
		first = !o.some.Swap(true)
	}
	o.passOn(class)
	return id, first, err
}

// join and leave count a caller that waits.
func (l *lane) join(at place) {
	l.waiting++
	if at == passed {
		l.passed++
	}
}

func (l *lane) leave(at place) {
	if at != comes {
		l.waiting--
	}
	if at == passed {
		l.passed--
	}
}

// unwait takes back that a caller waits for room.
func (o *outlet) unwait(class broadcast.Class, at place) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.lanes[class].leave(at)
	o.passOn(class)
}

// passOn lets the next caller that waits look, if there is room or an error for
// it. Each wakes the next, so that not all of them run for the room of a few.
func (o *outlet) passOn(class broadcast.Class) {
	l := &o.lanes[class]
	if l.waiting > 0 && (l.in.weight < laneBytes || o.closed || o.refuses && class == broadcast.ClassOrdered) {
		select {
		case l.room <- struct{}{}:
		default:
		}
	}
}

// refill gives the loop what callers have left in a lane, when it has handed over
// all of before, and callers room for more. It reports whether there is something.
// Only the loop calls it.
func (o *outlet) refill(class broadcast.Class, from slabs) bool {
	l := &o.lanes[class]
	if l.next < len(l.out.each) {
		return true
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	l.out.reset()
	l.out, l.in = l.in, l.out
	l.next = 0
	if len(l.out.each) > 0 {
		l.spread(from)
	}
	o.passOn(class)
	return len(l.out.each) > 0
}

// restart begins the messages of another incarnation. Those left for the old one
// end with it. Only the loop calls it.
func (o *outlet) restart(boot BootID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.boot, o.refuses = boot, false
	for class := range o.lanes {
		l := &o.lanes[class]
		l.last, l.next = 0, 0
		l.slabs, l.from = nil, broadcast.Slab{} // of a machine that is no more
		l.in.reset()
		l.out.reset()
		o.passOn(broadcast.Class(class))
	}
	o.end(IncarnationEnded)
}

// end ends all waits for outcomes. The lock is held.
func (o *outlet) end(why UnknownReason) {
	for class := range o.waiters {
		o.waiters[class].lose(broadcast.MaxSequence, why)
		o.awaited[class].Store(false)
	}
}

// refuse says whether ordered messages are refused for want of a quorum.
func (o *outlet) refuse(refuses bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.refuses = refuses
	o.passOn(broadcast.ClassOrdered)
}

// close refuses messages from now on. Outcomes may still come.
func (o *outlet) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	for class := range o.lanes {
		o.passOn(broadcast.Class(class))
	}
}

// settle gives the outcomes of a turn to those who wait for them.
func (o *outlet) settle(outcomes []settled) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := range outcomes {
		s := &outcomes[i]
		w := &o.waiters[s.ID.Class]
		if s.unknown == "" {
			w.deliver(s)
		} else {
			w.lose(s.ID.Sequence, s.unknown)
		}
		if len(w.list) == 0 {
			o.awaited[s.ID.Class].Store(false)
		}
	}
}

// over ends all waits: the node has stopped.
func (o *outlet) over() {
	o.close()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.end(NodeStopped)
}
