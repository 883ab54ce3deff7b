package failaware

import (
	"time"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/timed"
)

// castTurn is how much one turn of the loop sends of what callers have left in a
// lane, payloads and laneOverhead for each, to all members together: a turn takes
// as long as its sending. It bounds a turn, so that leases are renewed in time, and
// spreads out what is sent: a receiver's socket holds some hundred packets. Larger
// turns wake up loops and applications less often. A turn may take castTurnLeast,
// however many members there are.
const (
	castTurn      = 256 << 10
	castTurnLeast = 32 << 10
)

// castReceive is the size of the socket's receive buffer with broadcast, in bytes,
// which the system may limit: what the other members can send while a loop is
// held up.
const castReceive = 4 << 20

// caster is the loop's part of the broadcast.
type caster struct {
	out      *outlet
	in       *inbox // nil: the application wants no deliveries
	outcomes []settled
	unwanted tally         // deliveries dropped in this turn
	more     bool          // messages wait for nothing but the next turn
	stalled  bool          // messages wait for the machine to take them
	took     timed.Instant // when the machine last took messages
	woke     bool          // the application was woken in this turn

	look  lookout       // nil: a transport that has none
	since timed.Instant // when the loop last let others have its processor
}

// refuses reports whether this view lacks the quorum that ordered messages need.
func (d *driver) refuses(v *View) bool {
	group := d.cfg.Broadcast.RequireQuorum
	return !group.Empty() && 2*v.Set.Intersect(group).Len() <= group.Len()
}

// supply hands messages of callers to the machine, while it takes them. What it
// does not take, for want of room or of a quorum, stays where it is until it does.
func (d *driver) supply() {
	c := d.cast
	if c == nil || d.stack == nil {
		return
	}
	c.out.some.Store(false) // what comes from now on wakes the loop again
	c.more, c.stalled = false, false
	turn := castTurn
	if v := d.stack.Cast().View(); v != nil {
		turn = max(castTurn/max(1, len(v.Members)-1), castTurnLeast)
	}
	for class := broadcast.ClassUnordered; class <= broadcast.ClassOrdered; class++ {
		l := &c.out.lanes[class]
		for left := turn; c.out.refill(class, d.stack); {
			if left <= 0 {
				c.more = true
				break
			}
			weight, err := l.give(d.now, d.stack)
			if err != nil {
				c.stalled = true
				break
			}
			left -= weight
			c.took = d.now
		}
	}
}

// consumed tells the machine what the application has taken.
func (d *driver) consumed() {
	if d.cast == nil || d.stack == nil {
		return
	}
	t := d.cast.unwanted
	d.cast.unwanted = tally{}
	if d.cast.in != nil {
		var ended []returned
		t, ended = d.cast.in.taken()
		for _, r := range ended {
			d.stack.GiveBack(r.loan, r.count)
		}
	}
	if t.count > 0 {
		d.stack.Consumed(d.now, t.bytes, t.count)
	}
}

// deliver takes an effect of the broadcast. What it points to is the machine's;
// payloads are lent to the application.
func (d *driver) deliver(e *broadcast.Effect) {
	c := d.cast
	switch e.Kind {
	case broadcast.Deliver:
		d.outcomes(e)
		if c.in == nil {
			for i := range e.Deliveries {
				c.unwanted.bytes += len(e.Deliveries[i].Payload)
			}
			c.unwanted.count += len(e.Deliveries)
			return
		}
		for i := range e.Deliveries {
			it := c.in.add()
			it.loan = d.stack.Borrow(&e.Deliveries[i])
			it.fill(&e.Deliveries[i], e.View)
		}
	case broadcast.Transition:
		d.tell(Delivery{Kind: TransitionBegins, View: e.View,
			Change: &DeliveryChange{Next: e.Next, Previous: e.View.ID, Along: e.Along}})
	case broadcast.Installed:
		me, _ := e.View.Member(d.cfg.Self.Node)
		d.tell(Delivery{Kind: ViewChange, View: e.View,
			Change: &DeliveryChange{Previous: me.Previous, Along: e.View.Transitional(me.Previous), Merged: e.View.Merged()}})
		c.out.refuse(d.refuses(e.View))
	case broadcast.Elsewhere:
		id := MessageID{Sender: d.cfg.Self.Node, Boot: d.cfg.Self.Boot, Class: e.Class, Sequence: e.Through}
		d.tell(Delivery{Kind: OutcomeLost, ID: id, View: e.View, Change: &DeliveryChange{From: e.From}})
		if c.out.awaited[e.Class].Load() {
			c.outcomes = append(c.outcomes, settled{Outcome{ID: id}, OrderedElsewhere})
		}
	}
}

// tell stages an item that is no message.
func (d *driver) tell(it Delivery) {
	if d.cast.in != nil {
		d.cast.in.add().Delivery = it
	}
}

// outcomes notes own messages among deliveries, if anybody waits for such.
func (d *driver) outcomes(e *broadcast.Effect) {
	o := d.cast.out
	if !o.awaited[broadcast.ClassUnordered].Load() && !o.awaited[broadcast.ClassOrdered].Load() {
		return
	}
	for i := range e.Deliveries {
		m := &e.Deliveries[i]
		if m.Sender == d.cfg.Self.Node && m.Boot == d.cfg.Self.Boot && o.awaited[m.Class].Load() {
			d.cast.outcomes = append(d.cast.outcomes, settled{Outcome: Outcome{ID: m.ID, View: e.View,
				Transitional: m.Transitional, Position: m.Position, Stamp: m.Stamp, Deviation: m.Deviation}})
		}
	}
}

// handOver gives the turn's deliveries to the application, and outcomes to those
// who wait. The state that they speak of is published.
func (d *driver) handOver() {
	c := d.cast
	if c == nil {
		return
	}
	if c.in != nil {
		c.woke = c.in.handOver() || c.woke
	}
	if len(c.outcomes) > 0 {
		c.out.settle(c.outcomes)
		clear(c.outcomes) // they hold views
		c.outcomes = c.outcomes[:0]
	}
}

// lookout is a transport that can look for packets without waiting, and whose wait
// can be made shorter while it lasts: see the methods of [udp.Conn].
type lookout interface {
	Expect(time.Duration)
	Waited() bool
	Hasten(deadline timed.Instant)
}

const (
	// answerTime is for how long the loop looks for packets before it waits, while a
	// message waits for a word from another member: in less time than it takes to
	// put a thread to sleep and to wake it, the word has often come. It costs at
	// most that much of a processor for each turn of the loop in which messages
	// wait, and nothing at other times; threads that want the processor have it.
	answerTime = 30 * time.Microsecond
	// longestTurns is for how long a loop that always finds packets keeps its
	// processor from the other goroutines, unless the application waits for it. The
	// runtime would wait for 10 ms before it takes it away.
	longestTurns = 200 * time.Microsecond
)

// expect says before a wait for packets whether some are expected very soon.
func (c *caster) expect(s *stack.Stack) {
	if c.look != nil && s != nil && s.Cast().Awaits() {
		c.look.Expect(answerTime)
	}
}

// yields reports whether it is time to let other goroutines have the processor: at
// once those of an application that has just been woken, and in general before the
// loop holds them up for long. Not more often, because that lets the runtime wake
// another thread to run the loop, which costs more than most turns.
func (c *caster) yields(now timed.Instant) bool {
	if c.look != nil && c.look.Waited() {
		c.since = now
	}
	if !c.woke && c.look != nil && now.Sub(c.since) < longestTurns {
		return false
	}
	c.woke, c.since = false, now
	return true
}

// recast ends the broadcast of an incarnation, and begins that of the next one.
func (d *driver) recast(why RestartReason) {
	c := d.cast
	if c == nil {
		return
	}
	c.out.restart(d.cfg.Self.Boot)
	c.unwanted = tally{}
	if c.in != nil {
		c.in.restart()
	}
	d.tell(Delivery{Kind: NewIncarnation, ID: MessageID{Sender: d.cfg.Self.Node, Boot: d.cfg.Self.Boot},
		Change: &DeliveryChange{Reason: why}})
	d.handOver()
}

// mayBegin reports whether nothing holds up the next incarnation but time: an
// application that lags must first catch up, or what waits for it would grow with
// every incarnation.
func (d *driver) mayBegin() bool {
	return !d.rateFaulty && (d.cast == nil || d.cast.in == nil || d.cast.in.caughtUp())
}

// largestPacket returns the size of the largest packet that the node reads, in
// bytes.
func (c *Config) largestPacket() int {
	if c.Broadcast == nil {
		return c.MaxPacket
	}
	return max(c.MaxPacket, stack.MaxBroadcast)
}
