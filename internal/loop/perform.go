package loop

import (
	"net/netip"
	"time"

	"github.com/failaware/failaware/internal/life"
	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/internal/wire"
)

// perform performs the effects of one handler. It encodes packets at once, since
// their memory is the stack's, but they leave at the end of the turn, when the state
// that they speak of is published.
func (d *driver) perform(effects []stack.Effect) {
	d.effects = effects
	d.out.forgetTail() // the stack uses the memory of its packets again
	for i := range effects {
		if !d.life.MaySpeak() {
			return
		}
		switch e := &effects[i]; e.Kind {
		case stack.Persist:
			d.writeEpoch(e.Epoch)
		case stack.Send:
			t := &d.routes.to[e.Peer]
			d.sendTo(e.Packet, t.Addr, t.Proved || !t.Addr.IsValid())
			if a, ok := t.Also(d.clock.now, d.pub.current.Alive.Has(e.Peer)); ok {
				d.sendTo(e.Packet, a.Addr, a.Proved)
			}
		case stack.SendBack:
			d.sendBack(e.Packet)
		case stack.Notify:
			d.note(e.Event)
		case stack.Deliver:
			d.deliver(e.Broadcast)
		}
	}
}

// alarmPeriod is the shortest time between two events about packets that cannot be encoded.
const alarmPeriod = time.Minute

// send adds a packet to the packets of the turn. Peers do not hear a node whose packets cannot
// be encoded, so an event says why.
func (d *driver) send(p *wire.Packet, to netip.AddrPort) {
	if err := d.out.add(p, to, &d.count); err != nil {
		d.unsendable(p, err)
	}
}

// unsendable reports a packet that cannot be encoded, now and then.
func (d *driver) unsendable(p *wire.Packet, err error) {
	if d.alarmed != 0 && d.clock.now.Sub(d.alarmed) < alarmPeriod {
		return
	}
	d.alarmed = d.clock.now
	d.note(&stack.Event{Kind: stack.EventUnsent, Peer: p.Header.Destination, Text: err.Error()})
}

// note acts on an event of the stack, and keeps it for the sink unless it concerns
// the loop alone.
func (d *driver) note(e *stack.Event) {
	switch e.Kind {
	case stack.EventLeadLost:
		d.pub.lost = &Lost{Reason: e.Lost, By: e.Peer}
	case stack.EventGlobalLost:
		d.pub.lostGlobal = &Lost{Reason: e.Lost, By: e.Peer}
	case stack.EventVerified:
		d.answer(e.Assurance)
		return
	case stack.EventRestart:
		d.life.Blame(life.PeersContradict)
		return
	case stack.EventNewEpoch:
		d.life.Blame(life.NewEpoch)
		return
	case stack.EventOverrun:
		d.life.Blame(life.Overrun)
		return
	case stack.EventInconsistent:
		d.count.inconsistent++
		d.life.Blame(life.Inconsistent)
	case stack.EventDuplicateID:
		d.giveWay(e.Boot)
		return
	case stack.EventMismatch:
		d.noteMismatch(e.Peer, Settings{Group: e.Group, MaxDrift: e.MaxDrift, FastThreshold: e.FastThreshold}, d.out.origin, false)
		return
	case stack.EventRival:
		e.Text = d.out.origin.String()
	case stack.EventOtherQuorum:
		d.noteQuorum(e)
		return
	case stack.EventReady:
		d.life.Ready()
		d.forgetLongVotes()
	case stack.EventPeerLeaving:
		if !d.routes.leaves(e.Peer, e.Boot) {
			return
		}
		if e.ForGood {
			d.routes.gone[e.Peer] = e.Boot
		}
	}
	d.report.events = append(d.report.events, *e)
}

// report holds the reports of a turn until its state is published and its packets
// have left.
type report struct {
	events []stack.Event
	calls  []func() // results of commands
}

// after registers f, to be called when the state of this turn is published and its packets
// have left.
func (r *report) after(f func()) { r.calls = append(r.calls, f) }

// flush publishes the state, sends the packets of the turn, and gives its reports, in this
// order. After a failed write it does nothing: the whole turn may rest on a fact that the
// node would forget.
func (d *driver) flush() {
	d.reserveViews()
	if !d.life.MaySpeak() {
		return
	}
	d.publish()
	d.out.send(d.l.cfg.Clock, d.l.cfg.Conn)
	d.sendChallenges()
	d.commitMessages()
	r := &d.report
	for i := range r.events {
		d.l.cfg.Sink.Event(&r.events[i])
	}
	clear(r.events) // they hold views
	r.events = r.events[:0]
	for _, f := range r.calls {
		f()
	}
	r.calls = r.calls[:0]
}
