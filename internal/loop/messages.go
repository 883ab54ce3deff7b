package loop

import (
	"bytes"
	"slices"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/life"
	"github.com/failaware/failaware/internal/loop/deliveryqueue"
	"github.com/failaware/failaware/internal/loop/sendqueue"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// One turn of the loop sends at most turnBytes of the messages that callers have
// queued in a class, payloads and sendqueue.MessageOverhead for each, to all members
// together: a turn takes as long as its sending. The limit bounds a turn, so that leases are
// renewed in time, and spreads out the packets: a receiver's socket holds some
// hundred. Larger turns wake up loops and applications less often. A turn may send
// minTurnBytes to each member, however many there are.
const (
	turnBytes    = 256 << 10
	minTurnBytes = 32 << 10
)

// messages is the loop's part of the broadcast.
type messages struct {
	sends      *sendqueue.Queue
	deliveries *deliveryqueue.Queue // nil: the application wants none

	outcomes []sendqueue.Outcome  // of this turn
	remains  []broadcast.Delivery // of the incarnation that ends
	dropped  deliveryqueue.Taken  // deliveries of this turn that nobody wants
	more     bool                 // messages wait only for the next turn
	stalled  bool                 // messages wait for the broadcast to take them
	took     timed.Instant        // when the broadcast last took messages
	yielding
}

// lacksQuorum reports whether a view does not have the quorum that ordered messages
// need.
func (d *driver) lacksQuorum(v *membership.View) bool {
	q := d.stack.Order().System
	return q != nil && !q.IsQuorum(v.Set)
}

// supply hands messages of callers to the broadcast while it takes them. Messages
// that it does not take, for lack of room or of a quorum, stay queued.
func (d *driver) supply() {
	m := d.msgs
	if m == nil || d.stack == nil {
		return
	}
	m.sends.Look()
	m.more, m.stalled = false, false
	turn := turnOf(d.stack.BroadcastState().View())
	for class := broadcast.ClassUnordered; class <= broadcast.ClassOrdered; class++ {
		d.supplyClass(class, turn)
	}
}

// turnOf returns how much of a class one turn sends to each member of a view.
func turnOf(v *membership.View) int {
	if v == nil {
		return turnBytes
	}
	return max(turnBytes/max(1, len(v.Members)-1), minTurnBytes)
}

// supplyClass hands over messages of a class until left is used up.
func (d *driver) supplyClass(class broadcast.Class, left int) {
	for m := d.msgs; m.sends.Refill(class, d.stack); {
		if left <= 0 {
			m.more = true
			return
		}
		weight, err := m.sends.HandOver(class, d.clock.now, d.stack)
		if err != nil {
			m.stalled = true
			return
		}
		left -= weight
		m.took = d.clock.now
	}
}

// consumed tells the broadcast how much the application has taken.
func (d *driver) consumed() {
	m := d.msgs
	if m == nil || d.stack == nil {
		return
	}
	taken := m.dropped
	m.dropped = deliveryqueue.Taken{}
	if m.deliveries != nil {
		var ended []deliveryqueue.Return
		taken, ended = m.deliveries.Returned()
		for _, r := range ended {
			d.stack.GiveBack(r.Loan, r.Count)
		}
	}
	if taken.Count > 0 {
		d.stack.Consumed(d.clock.now, taken.Bytes, taken.Count)
	}
}

// deliver takes an effect of the broadcast. It points to memory of the broadcast,
// which lends payloads to the application.
func (d *driver) deliver(e *broadcast.Effect) {
	m, self := d.msgs, d.cfg.Self
	switch e.Kind {
	case broadcast.Deliver:
		m.noteOutcomes(e, self)
		d.stageMessages(e)
	case broadcast.Transition:
		m.stage(deliveryqueue.Item{Kind: deliveryqueue.Transition, View: e.View,
			Change: &deliveryqueue.Change{Next: e.Next, Previous: e.View.ID, Along: e.Along}})
	case broadcast.Installed:
		me, _ := e.View.Member(self.Node)
		order := d.stack.Order()
		m.stage(deliveryqueue.Item{Kind: deliveryqueue.Installed, View: e.View,
			Change: &deliveryqueue.Change{Previous: me.Previous, Along: e.View.Transitional(me.Previous), Merged: e.View.Merged(), Base: e.Base,
				Quorum: order.System, Epoch: order.Epoch}})
		m.sends.Refuse(d.lacksQuorum(e.View))
	case broadcast.Remains:
		m.keepRemains(e)
	case broadcast.Elsewhere:
		last := broadcast.Delivery{ID: broadcast.ID{Sender: self.Node, Boot: self.Boot, Class: e.Class, Sequence: e.Through}}
		m.stage(deliveryqueue.Item{Kind: deliveryqueue.Lost, Message: last, View: e.View,
			Change: &deliveryqueue.Change{From: e.From}})
		if m.sends.Awaited(e.Class) {
			m.outcomes = append(m.outcomes, sendqueue.Outcome{Message: last, Lost: sendqueue.OrderedElsewhere})
		}
	}
}

// stageMessages stages messages for the application.
func (d *driver) stageMessages(e *broadcast.Effect) {
	m := d.msgs
	if m.deliveries == nil {
		for i := range e.Deliveries {
			m.dropped.Bytes += len(e.Deliveries[i].Payload)
		}
		m.dropped.Count += len(e.Deliveries)
		return
	}
	for i := range e.Deliveries {
		it := m.deliveries.Stage()
		it.Lend(d.stack.Borrow(&e.Deliveries[i]))
		it.Kind, it.View = deliveryqueue.Message, e.View
		it.Message = e.Deliveries[i]
	}
}

// keepRemains copies the messages that the broadcast of the ending incarnation has not
// delivered, for the item that begins the next one.
func (m *messages) keepRemains(e *broadcast.Effect) {
	if m.deliveries == nil {
		return
	}
	m.remains = slices.Clone(e.Deliveries)
	for i := range m.remains {
		m.remains[i].Payload = bytes.Clone(m.remains[i].Payload)
	}
}

// stage stages an item that is not a message.
func (m *messages) stage(it deliveryqueue.Item) {
	if m.deliveries != nil {
		*m.deliveries.Stage() = it
	}
}

// noteOutcomes notes own messages among deliveries, if a caller waits for one.
func (m *messages) noteOutcomes(e *broadcast.Effect, self timed.Incarnation) {
	if !m.sends.Awaited(broadcast.ClassUnordered) && !m.sends.Awaited(broadcast.ClassOrdered) {
		return
	}
	for i := range e.Deliveries {
		x := &e.Deliveries[i]
		if x.Sender == self.Node && x.Boot == self.Boot && m.sends.Awaited(x.Class) {
			m.outcomes = append(m.outcomes, sendqueue.Outcome{View: e.View, Message: broadcast.Delivery{ID: x.ID,
				Options: x.Options, Transitional: x.Transitional, Position: x.Position, Stamp: x.Stamp, Deviation: x.Deviation}})
		}
	}
}

// commitMessages gives the turn's deliveries to the application, and outcomes to the
// callers that wait for them, once the state that they speak of is published. After a
// failed write it does nothing, as flush.
func (d *driver) commitMessages() {
	m := d.msgs
	if m == nil || !d.life.MaySpeak() {
		return
	}
	if m.deliveries != nil {
		m.woke = m.deliveries.Commit() || m.woke
	}
	if len(m.outcomes) > 0 {
		m.sends.Resolve(m.outcomes)
		clear(m.outcomes) // they hold views
		m.outcomes = m.outcomes[:0]
	}
}

// restartMessages ends the broadcast of an incarnation, and begins that of the next
// one.
func (d *driver) restartMessages(why life.Reason) {
	m, self, order := d.msgs, d.cfg.Self, d.cfg.Order()
	if m == nil {
		return
	}
	m.sends.Restart(self.Boot)
	m.dropped, m.took, m.since = deliveryqueue.Taken{}, 0, 0
	if m.deliveries != nil {
		m.deliveries.Restart()
	}
	m.stage(deliveryqueue.Item{Kind: deliveryqueue.NewIncarnation,
		Change:  &deliveryqueue.Change{Reason: why, Remains: m.remains, Quorum: order.System, Epoch: order.Epoch},
		Message: broadcast.Delivery{ID: broadcast.ID{Sender: self.Node, Boot: self.Boot}}})
	m.remains = nil
	d.commitMessages()
}
