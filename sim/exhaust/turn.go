package exhaust

import (
	"cmp"
	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/timed"
)

// turns performs turns of one node at one tick, on its machine, and checks each.
type turns struct {
	w    *world
	m    *machine
	tick int64
	all  *state // the other nodes at the tick, and the timelines

	claims []claims // before, and after every turn
	sent   []*message
	line   *clocksync.Line // of the timeline that the node started
	failed *failure
}

// begin prepares the machine for turns from the present claims of the node.
func (w *world) begin(m *machine, all *state, tick int64) *turns {
	t := &turns{w: w, m: m, tick: tick, all: all}
	t.claims = append(t.claims, w.claimsOf(m, tick))
	t.clockHolds(m.st.Clock().Read(w.show(m.self, tick)))
	return t
}

// fail keeps the first failure.
func (t *turns) fail(f *failure) { t.failed = cmp.Or(t.failed, f) }

// perform takes one event: a message, or nil for the timer.
func (t *turns) perform(f *message) {
	now := t.w.show(t.m.self, t.tick)
	before := t.m.st.Clock().Read(now)
	if f == nil {
		t.took(before, t.m.st.HandleTimeout(now, t.w.out[:0]))
		return
	}
	out := t.m.st.HandlePacket(now, now, &f.packet, t.w.out[:0])
	t.delivered(f, now)
	t.took(before, out)
}

// resign has the node give up its lead.
func (t *turns) resign() {
	now := t.w.show(t.m.self, t.tick)
	before := t.m.st.Clock().Read(now)
	t.took(before, t.m.st.Resign(now, t.w.out[:0]))
}

// took takes the effects of a turn.
func (t *turns) took(before clocksync.Reading, out []stack.Effect) {
	now := t.w.show(t.m.self, t.tick)
	t.w.out = out
	for i := range out {
		switch e := &out[i]; e.Kind {
		case stack.Send, stack.SendBack:
			t.sent = append(t.sent, t.w.press.message(e.Packet, t.tick, t.w.at(t.tick)))
		case stack.Notify:
			t.event(e.Event)
		}
	}
	t.clockMoved(before, t.m.st.Clock().Read(now))
	t.claim()
}

// claim records the claims of the node after a turn.
func (t *turns) claim() {
	c := t.w.claimsOf(t.m, t.tick)
	at := t.tick * t.w.grain
	t.fail(moved(&t.claims[len(t.claims)-1], &c, t.m.st.Election().Refusals(), at))
	t.fail(alone(&c, at))
	t.claims = append(t.claims, c)
}

// event checks an event of the node: there is no false alarm.
func (t *turns) event(e *stack.Event) {
	id := t.m.self
	switch e.Kind {
	case stack.EventClockAdopted, stack.EventClockStepped:
		if line, own := t.m.st.Line(); own && line.Timeline == e.Timeline {
			t.line = &line
		} else if t.all.timeline(e.Timeline) == nil {
			t.fail(fail("timeline", id, "adopts %v, which nobody has started", e.Timeline))
		}
	case stack.EventClockFault, stack.EventRestart:
		t.fail(fail("clock", id, "blames the clock of node %d (bound %v) although all clocks keep ρ", e.Peer, e.Bound))
	case stack.EventInconsistent:
		t.fail(fail("invariant", id, "finds its state broken: %s", e.Text))
	case stack.EventDuplicateID:
		t.fail(fail("id", id, "thinks that its id is used twice"))
	case stack.EventMismatch:
		t.fail(fail("mismatch", id, "thinks that node %d has other settings", e.Peer))
	}
}

// delivered checks the node's judgement of a packet: the bound is above the delay, a fast
// packet was fast, and the interval of the clocks' difference holds the truth.
func (t *turns) delivered(f *message, now timed.Instant) {
	c, id, from := &t.w.opt.Timing, t.m.self, f.packet.Header.Source
	took := (t.tick - f.sent) * t.w.grain
	kind, d := t.m.st.LastPacket()
	switch kind {
	case datagram.Accepted:
		if took > int64(c.MaxDrift.Wait(c.Expires)) {
			t.fail(fail("accept", id, "accepts node %d by a packet that is %v old", from, t.w.since(t.tick-f.sent)))
		}
	case datagram.Delivered:
	default:
		return
	}
	if d.Bound != datagram.Unknown && int64(d.Bound) < took-granularity {
		t.fail(fail("delay", id, "bound %v of a packet from node %d is below its delay of %v", d.Bound, from, t.w.since(t.tick-f.sent)))
	}
	if d.Fast && took > int64(c.FastThreshold)+granularity {
		t.fail(fail("fast", id, "takes a packet from node %d for fast that took %v", from, t.w.since(t.tick-f.sent)))
	}
	lo, hi, ok := t.m.st.Datagram().Offset(now, from)
	off := t.w.show(from, t.tick).Sub(now)
	if ok && (lo > off+granularity || hi < off-granularity) {
		t.fail(fail("offset", id, "[%d, %d] ns of node %d's clock does not hold the truth %d", lo, hi, from, off))
	}
}

// clockMoved checks the readings just before and just after a turn.
func (t *turns) clockMoved(before, after clocksync.Reading) {
	if before.Timeline == after.Timeline && after.Time < before.Time {
		t.fail(fail("monotone", t.m.self, "the clock ran back by %v on %v", before.Time.Sub(after.Time), after.Timeline))
	}
	t.clockHolds(after)
}

// clockHolds checks that a reading is off by no more than it says.
func (t *turns) clockHolds(r clocksync.Reading) {
	if r.Deviation == clocksync.UnknownBound {
		return
	}
	line := t.line
	if line == nil || line.Timeline != r.Timeline {
		line = t.all.timeline(r.Timeline)
	}
	if line == nil {
		t.fail(fail("timeline", t.m.self, "reads %v, which nobody has started", r.Timeline))
		return
	}
	off := r.Time.Sub(t.w.shows(line, t.tick))
	if off.Abs() > r.Deviation+granularity {
		t.fail(fail("deviation", t.m.self, "is off by %d ns on %v and claims %v", off, r.Timeline, r.Deviation))
	}
}

// shows returns the true reading of a timeline at a tick.
func (w *world) shows(l *clocksync.Line, tick int64) clocksync.Time {
	d := int64(w.show(l.Timeline.Leader, tick) - l.Base)
	const billion = 1_000_000_000
	return l.Shown + clocksync.Time(d+d/billion*l.Rate+d%billion*l.Rate/billion)
}
