package failaware

import (
	"fmt"
	"net/netip"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/internal/transport"
	"github.com/failaware/failaware/internal/udp"
)

// outgoing gathers the packets of a turn, encoded, until they leave together.
// Its buffers are used again and again.
type outgoing struct {
	encoder stack.Encoder
	pkts    []udp.Packet // the first n are to be sent; the others keep buffers
	n       int
	tails   [][]byte          // encoded broadcast frames; the first used are of this turn
	used    int               // how many
	cast    *broadcast.Packet // what the last of them is, while the handler's effects are performed
	origin  netip.AddrPort    // where the packet being handled came from
	counter uint64            // of packets sent by this process
	bulk    bool              // there may be many packets to one address, which are cheapest together
}

// stampsPerTurn is by how many system calls the packets of a turn leave at most,
// each with a stamp of its own.
const stampsPerTurn = 16

// add encodes a packet for an address.
func (o *outgoing) add(p *stack.Packet, to netip.AddrPort, c *counts) {
	if !to.IsValid() {
		c.unresolved++
		return
	}
	if o.n == len(o.pkts) {
		o.pkts = append(o.pkts, udp.Packet{})
	}
	pkt := &o.pkts[o.n]
	tail, err := o.tail(p)
	if err == nil {
		pkt.Buf, err = o.encoder.AppendBefore(pkt.Buf[:0], p, tail)
	}
	if err != nil {
		c.unencoded++
		return
	}
	pkt.N, pkt.Tail, pkt.Addr = len(pkt.Buf), tail, to
	o.n++
}

// tail returns what a packet with messages shares with those to other members,
// which is most of it: encoded once, however many they are. Other packets share
// nothing.
func (o *outgoing) tail(p *stack.Packet) ([]byte, error) {
	if !p.Has(stack.FrameBroadcast) || len(p.Broadcast.Runs) == 0 {
		return nil, nil
	}
	if o.cast == p.Broadcast {
		return o.tails[o.used-1], nil
	}
	if o.used == len(o.tails) {
		o.tails = append(o.tails, nil)
	}
	b, err := o.encoder.AppendCast(o.tails[o.used][:0], p.Broadcast)
	if err != nil {
		return nil, err
	}
	o.tails[o.used] = b
	o.used++
	o.cast = p.Broadcast
	return b, nil
}

// send stamps the packets, as late as possible, and sends them.
//
// What lies between a packet's stamp and its departure is added to the bound of
// its delay, and to the deviation of the clock that is read by it. The kernel takes
// some microseconds for each packet, on the loopback interface until the receiver
// has been woken: with one stamp for all, the last of four packets would look four
// times as slow as the first. A system call for each costs a small part of that.
func (o *outgoing) send(clock *hwclock.Clock, conn transport.Conn) {
	together := o.together()
	for at := 0; at < o.n; {
		pkts := o.pkts[at:min(at+together, o.n)]
		stamp := clock.Now()
		for i := range pkts {
			o.counter++
			datagram.PatchStamp(pkts[i].Buf, stamp, o.counter)
		}
		// An error means that the socket is closed or broken, which reading reports.
		_, _ = conn.WriteBatch(pkts)
		at += len(pkts)
	}
	o.n, o.used = 0, 0
}

// together returns how many packets leave by one system call. Of a crowd of data,
// the kernel takes those to one address as one; other packets bound the delays.
func (o *outgoing) together() int {
	if o.bulk && o.crowded() {
		return o.n
	}
	return (o.n + stampsPerTurn - 1) / stampsPerTurn
}

// crowded reports whether an address gets several packets, or there are many.
func (o *outgoing) crowded() bool {
	if o.n > stampsPerTurn {
		return true
	}
	for i := range o.pkts[:o.n] {
		for j := range o.pkts[:i] {
			if o.pkts[i].Addr == o.pkts[j].Addr {
				return true
			}
		}
	}
	return false
}

// perform takes the effects of one handler. Packets are encoded at once, because
// they are the stack's, but leave with the others at the end of the turn, when
// the state that they speak of is published.
func (d *driver) perform(effects []stack.Effect) {
	d.effects = effects
	d.post.cast = nil // the stack uses the memory of its packets again
	for i := range effects {
		if d.unwritten {
			return
		}
		switch e := &effects[i]; e.Kind {
		case stack.Persist:
			d.persist(e.Epoch)
		case stack.Send:
			t := &d.routes.to[e.To]
			d.post.add(e.Packet, t.addr, &d.count)
			if t.alt.IsValid() && d.now < t.altUntil && t.alt != t.addr && !d.published.Alive.Has(e.To) {
				d.post.add(e.Packet, t.alt, &d.count)
			}
		case stack.Answer:
			d.post.add(e.Packet, d.post.origin, &d.count)
		case stack.Notify:
			d.note(e.Event)
		case stack.Cast:
			d.deliver(e.Cast)
		}
	}
}

// note takes an event of the stack: the loop acts on some, and all are told to
// the application at the end of the turn.
func (d *driver) note(e *stack.Event) {
	switch e.Kind {
	case stack.EventLeadLost:
		d.lost = &NotLeaderError{Reason: e.Lost, By: e.Peer}
	case stack.EventGlobalLost:
		d.noteGlobal(e)
	case stack.EventVerified:
		d.noteGlobal(e)
		return // told to who asked
	case stack.EventRestart:
		d.blame = PeersContradict
		return // told as Restarted
	case stack.EventOverrun:
		d.blame = Overrun
		return // as well
	case stack.EventDuplicateID:
		d.fail(&DuplicateIDError{ID: d.cfg.Self.Node, Boot: d.cfg.Self.Boot, Rival: e.Boot})
		return
	case stack.EventMismatch:
		if d.starting() {
			d.fail(d.mismatch(e))
		}
	case stack.EventViewInstalled:
		d.settled = d.settled || len(e.View.Members) > 1
	case stack.EventReady:
		d.lowerMaxLock()
	case stack.EventPeerLeaving:
		t := &d.routes.to[e.Peer]
		if t.left == e.Boot {
			return // it says so in every packet
		}
		t.left = e.Boot
	}
	d.events = append(d.events, *e)
}

// starting reports whether a mismatch is this node's problem: it has never been
// in a group, and has just come up.
func (d *driver) starting() bool {
	return !d.settled && d.incarnations <= 1 && d.now < d.readyAt.Add(2*d.cfg.Timing.Expires)
}

func (d *driver) mismatch(e *stack.Event) *MismatchError {
	return &MismatchError{Peer: e.Peer, MaxDrift: d.cfg.Timing.MaxDrift, PeerMaxDrift: e.MaxDrift,
		FastThreshold: d.cfg.Timing.FastThreshold, PeerFastThreshold: e.FastThreshold}
}

// fail ends the loop at the end of the turn.
func (d *driver) fail(err error) {
	if d.failure == nil {
		d.failure = err
	}
	d.ended = true
}

// lowerMaxLock forgets the longer votes of an earlier run, which are over by
// now.
func (d *driver) lowerMaxLock() {
	if n := d.n; n.files != nil && n.files.start > n.cfg.Timing.MaxLockTime {
		go func() { // it waits for the disk
			if err := n.files.lower(n.cfg.Timing.MaxLockTime); err != nil {
				n.log.Warn("the state directory keeps a longer lock time than needed", "error", err)
			}
		}()
	}
}

// flush publishes the state, sends the packets of the turn, and tells what
// happened, in this order.
func (d *driver) flush() {
	d.publish()
	d.post.send(d.n.clock, d.n.conn)
	d.handOver()
	for i := range d.events {
		if e := d.translate(&d.events[i]); e != nil {
			d.n.hub.add(e)
		}
	}
	clear(d.events) // they hold views
	d.events = d.events[:0]
	for _, f := range d.after {
		f()
	}
	d.after = d.after[:0]
}

// publish makes the state of the loop what readers answer from, if it changed.
func (d *driver) publish() {
	prev := d.published
	snap := stack.Snapshot{Self: d.cfg.Self, Epoch: d.cfg.Epochs}
	switch {
	case d.stack != nil:
		snap = d.stack.Snapshot(d.now)
	case prev != nil: // what it knew last, without any claim
		snap.Clock, snap.View = prev.Clock, prev.View
	}
	if prev != nil && prev.Snapshot == snap && prev.epoch == d.epoch && d.lost == nil && d.lostGlobal == nil {
		return
	}
	s := &state{Snapshot: snap, epoch: d.epoch}
	s.phase, s.globalPhase = d.phaseOf(s), d.globalPhaseOf(s)
	if prev != nil && prev.Clock.Timeline() == snap.Clock.Timeline() && prev.Self == s.Self {
		s.shown = prev.shown
	} else {
		s.shown = &shown{}
	}
	d.published = s
	d.n.state.Store(s)
	if prev != nil && prev.phase != s.phase {
		prev.phase.lost = d.lost
		close(prev.phase.over)
	}
	if prev != nil && prev.globalPhase != s.globalPhase {
		prev.globalPhase.lost = d.lostGlobal
		close(prev.globalPhase.over)
	}
	d.lost, d.lostGlobal = nil, nil
	d.audit(s)
}

// phaseOf returns the phase of the next state: the present one, if nothing
// happened to it. A lead that ended in this turn is over, even if another one
// has begun since; and so is one whose lease ran out before it was renewed.
func (d *driver) phaseOf(s *state) *phase {
	next := &phase{leads: s.Leading && d.now < s.Expiration, since: d.now, over: make(chan struct{})}
	if !next.leads && s.Following != s.Self {
		next.leader = s.Following
	}
	prev := d.published
	if prev == nil || prev.phase.leads != next.leads || prev.phase.leader != next.leader {
		return next
	}
	if next.leads && (d.lost != nil || prev.epoch != s.epoch || prev.Self != s.Self || d.now >= prev.Expiration) {
		return next
	}
	return prev.phase
}

// leave is the command of [Node.Leave].
func (d *driver) leave() {
	if d.stack != nil && !d.leaving {
		d.perform(d.stack.Leave(d.now, d.effects[:0]))
	}
	d.leaving = true
	if d.cast != nil {
		d.cast.out.close()
	}
}

// resign is the command of [Node.Resign] and [Node.HandOver]; result is called when the others know.
func (d *driver) resign(to NodeID, result func(error)) {
	if d.stack == nil || !d.stack.Leads(d.now) {
		result(d.n.refuse(false))
		return
	}
	switch {
	case to == NoNode:
		d.perform(d.stack.Resign(d.now, d.effects[:0]))
	case !d.routes.known.Has(to):
		result(fmt.Errorf("%w: node %v is not known here", ErrSuccessor, to))
		return
	default:
		d.perform(d.stack.HandOver(d.now, to, d.effects[:0]))
	}
	d.after = append(d.after, func() { result(nil) })
}

// judge is the command of what watches the kernel's clock.
func (d *driver) judge(v hwclock.Verdict) {
	faulty := v == hwclock.RateFaulty
	if faulty && !d.rateFaulty {
		d.restart(ClockRate, hwclock.Reading{Now: d.now, Epoch: d.epoch})
	}
	d.rateFaulty = faulty
}

// counts are the loop's own counters.
type counts struct {
	malformed, foreign, sealed, insecure, early, tooMany uint64
	unresolved, unencoded                                uint64
	lent                                                 uint64        // turns that callers took
	dropped                                              stack.Dropped // of earlier incarnations
	cast                                                 broadcast.Dropped
}

// add takes the counters of an incarnation.
func (c *counts) add(s *stack.Stack) {
	x := s.Dropped
	c.dropped.Foreign += x.Foreign
	c.dropped.Mismatch += x.Mismatch
	c.dropped.Unknown += x.Unknown
	c.dropped.Unaccepted += x.Unaccepted
	c.dropped.Faulty += x.Faulty
	if b := s.Cast(); b != nil {
		c.cast.OtherView += b.Dropped.OtherView
		c.cast.Stranger += b.Dropped.Stranger
		c.cast.Overflow += b.Dropped.Overflow
		c.cast.Invalid += b.Dropped.Invalid
	}
}
