package failaware

import (
	"errors"
	"net"
	"runtime"
	"sync"
	"time"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/internal/udp"
	"github.com/failaware/failaware/leader/epoch"
	"github.com/failaware/failaware/timed"
)

// driver is the loop of a node: the only goroutine that touches the stack, but
// for the turns that callers take in its place (see lend). Each
// turn waits for packets or the earliest deadline, reads the clock once, lets
// the stack handle what has come, publishes the new state, and only then lets
// anybody know.
type driver struct {
	// mu is held by who takes a turn: what is said to be of the loop is of whoever
	// holds it. The loop lets go of it while it waits for packets, and at no other time:
	// not while it stands at the gate, and never after its end.
	mu sync.Mutex

	n       *Node
	cfg     stack.Config
	stack   *stack.Stack // nil while the node waits before it begins an incarnation
	decoder stack.Decoder
	packet  stack.Packet
	in      []udp.Packet
	effects []stack.Effect
	routes  routes
	post    outgoing

	now   timed.Instant
	epoch uint32

	published *state
	lost      *NotLeaderError // a lead ended in this turn

	lostGlobal *NotLeaderError // and a global one
	asked      []question      // whose answers somebody waits for

	events []stack.Event // of this turn
	after  []func()      // to be called when the turn's effects are performed

	hold         timed.Instant // until when no incarnation begins
	waiting      RestartReason
	rateFaulty   bool // the kernel's clock is beyond ρ
	incarnations int
	began        timed.Instant
	quick        int // restarts in a row
	readyAt      timed.Instant
	settled      bool          // it has been in a view with others
	blame        RestartReason // not empty: a new incarnation is needed
	greet        bool          // there are new peers, to whom something is to be said at once
	leaving      bool
	cast         *caster // nil without broadcast
	ended        bool
	unwritten    bool // the state directory did not take what was to be written: nothing more is said
	failure      error

	until   timed.Instant // until when the loop waits for packets
	served  timed.Instant // the last HandleTimeout
	hello   timed.Instant // when the next packets to strangers are due
	cleanup timed.Instant // when learnt peers are looked through
	late    Lateness
	count   counts
}

const (
	inBatch    = 64
	maxHold    = time.Minute // the longest wait between two restarts in a row
	restLong   = time.Minute // a life of this length ends a row of restarts
	cleanEvery = 10 * time.Second
)

func newDriver(n *Node, epochs *epoch.State) *driver {
	c := &n.cfg
	d := &driver{n: n, cfg: stack.Config{Self: timed.Incarnation{Node: c.ID}, Group: groupDigest(c.Group, c.Broadcast),
		Timing: c.Timing, Mode: c.Mode, RankBy: c.RankBy, Weight: c.Weight, Collation: c.collation(),
		Quorum: c.Quorum, Epoch: c.QuorumEpoch, Epochs: epochs,
		MaxDeviation: c.Clock.MaxDeviation, MaxSlew: c.Clock.MaxSlew, StepThreshold: c.Clock.StepThreshold,
		MaxUTCError: c.Clock.MaxUTCError, MinReferences: c.Clock.MinReferences}}
	if c.Broadcast != nil {
		m := c.Broadcast.machine()
		d.cfg.Broadcast, d.cast = &m, &caster{out: n.outlet, in: n.inbox}
		d.cast.look, _ = n.conn.(lookout)
	}
	d.routes.self, d.routes.limit = c.ID, c.MaxPeers
	d.post.encoder.MaxPacket, d.post.bulk = c.MaxPacket, c.Broadcast != nil
	d.in = make([]udp.Packet, inBatch)
	r := n.clock.Read()
	d.now, d.epoch = r.Now, r.Epoch
	d.cfg.Self.Boot = newBoot(n.random)
	if d.cast != nil {
		d.cast.out.restart(d.cfg.Self.Boot)
	}
	if n.files != nil {
		// An earlier run may have voted for longer than this one waits anyway.
		drift := c.Timing.MaxDrift
		if extra := drift.Wait(n.files.start) - drift.Wait(c.Timing.MaxLockTime); extra > 0 {
			d.hold = d.now.Add(extra)
		}
	}
	d.publish()
	d.takePeers()
	return d
}

// newBoot draws a boot id.
func newBoot(random func() uint64) BootID {
	for {
		if id := BootID(random()); id != 0 {
			return id
		}
	}
}

// run is the loop.
func (d *driver) run() {
	d.mu.Lock()
	defer d.finish()
	d.turn(nil, d.n.clock.Read())
	got := 0
	for !d.ended {
		if !d.n.gate.Pass() {
			return
		}
		d.until = timed.Later(d.deadline(), d.now) // what was due in the last turn was served in it
		n, err := d.wait(got > 0)
		switch {
		case d.ended || d.n.closing.Load() || errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			d.failure = err
			return
		}
		got = n
		r := d.n.clock.Read()
		d.measure(d.until, r.Now)
		d.turn(d.in[:n], r)
	}
}

// wait waits for packets until they come or something is due, and lets callers
// take turns meanwhile. busy tells that there were packets in the last turn.
func (d *driver) wait(busy bool) (n int, err error) {
	until, yields := d.until, false
	if d.cast != nil {
		d.cast.expect(d.stack)
		yields = busy && d.cast.yields(d.now)
	}
	d.mu.Unlock()
	defer d.mu.Lock()
	if yields {
		runtime.Gosched()
	}
	return d.n.conn.ReadBatch(d.in, until)
}

// deadline returns when the loop must run next.
func (d *driver) deadline() timed.Instant {
	at := d.cleanup
	if d.stack == nil {
		if d.mayBegin() {
			at = timed.Earlier(at, d.hold)
		}
		return at
	}
	if d.cast != nil && d.cast.more {
		return d.now
	}
	if len(d.routes.strangers) > 0 {
		at = timed.Earlier(at, d.hello)
	}
	return timed.Earlier(at, d.stack.Deadline())
}

// turn is one turn of the loop at the reading r.
func (d *driver) turn(pkts []udp.Packet, r hwclock.Reading) {
	switch {
	case r.Epoch != d.epoch:
		d.restart(Suspended, r)
	case r.Now < d.now:
		d.restart(ClockBackwards, r)
	default:
		d.now = r.Now
		d.receive(pkts)
	}
	if d.stack == nil && d.now >= d.hold && d.mayBegin() {
		d.begin()
	}
	d.takePeers()
	for _, f := range d.n.desk.take() {
		f(d)
	}
	d.consumed()
	d.supply()
	if d.stack != nil && d.due(len(pkts) == 0) {
		d.served, d.greet = d.now, false
		d.perform(d.stack.HandleTimeout(d.now, d.effects[:0]))
		if d.cast != nil && d.cast.stalled {
			d.supply() // there may be room again, of which no packet would tell
		}
	}
	d.housekeeping()
	d.flush()
	if d.blame != "" && !d.ended {
		d.restart(d.blame, hwclock.Reading{Now: d.now, Epoch: d.epoch})
	}
	if d.leaving && (d.stack == nil || d.stack.Left(d.now)) {
		d.ended = true
	}
}

// due reports whether the stack is to look at its timers: after the packets, so
// that after a stall what the peers said in time counts before their silence.
func (d *driver) due(idle bool) bool {
	return idle || d.greet || d.now >= d.stack.Deadline() ||
		d.now.Sub(d.served) >= d.cfg.Timing.KeepalivePeriod
}

// receive handles the packets of a turn.
func (d *driver) receive(pkts []udp.Packet) {
	if d.stack == nil {
		d.count.early += uint64(len(pkts))
		return
	}
	for i := range pkts {
		if d.ended || d.blame != "" {
			return
		}
		d.handle(&pkts[i])
	}
}

// handle checks one packet, cheapest test first, and hands it to the stack.
func (d *driver) handle(pkt *udp.Packet) {
	h, body, err := datagram.ParseHeader(pkt.Buf[:pkt.N])
	switch {
	case err != nil:
		d.count.malformed++
		return
	case h.Group != d.cfg.Group:
		d.count.foreign++
		return
	case h.Suite != datagram.SuiteNone:
		d.count.sealed++
		return
	case !d.n.cfg.Insecure && !pkt.Addr.Addr().IsLoopback():
		d.count.insecure++
		return
	}
	p := &d.packet
	if err := d.decoder.DecodeBody(h, body, p); err != nil {
		d.count.malformed++
		return
	}
	if h.Source == d.cfg.Self.Node && h.Boot != d.cfg.Self.Boot {
		d.count.foreign++ // a rival; the peers settle it
		return
	}
	// Nodes with other settings are learnt as well: what is sent to them then
	// is how they find out.
	added, full := d.routes.learn(h.Source, pkt.Addr, d.now)
	if added {
		d.stack.AddPeer(h.Source, d.now)
		d.greet = true
	}
	if full {
		d.count.tooMany++
	}
	if h.Source == d.cfg.Self.Node || h.Destination != d.cfg.Self.Node {
		d.count.foreign++
		return
	}
	d.post.origin = pkt.Addr
	// The socket promises received ≤ now; the stack relies on it.
	d.perform(d.stack.HandlePacket(d.now, timed.Earlier(pkt.Received, d.now), p, d.effects[:0]))
	if _, verdict := d.stack.LastPacket(); d.routes.known.Has(h.Source) {
		d.routes.follow(&h, pkt.Addr, verdict, d.now, 2*d.cfg.Timing.Expires)
	}
}

// takePeers adopts a new list of peers, if there is one.
func (d *driver) takePeers() {
	b := d.n.peers.List()
	if b == d.routes.listed {
		return
	}
	added, removed := d.routes.take(b, d.published.Alive, d.now)
	if d.stack == nil {
		return
	}
	for id := range removed.All() {
		d.stack.RemovePeer(id)
	}
	for id := range added.All() {
		d.stack.AddPeer(id, d.now)
		d.greet = true
	}
}

// housekeeping does what is due now and then.
func (d *driver) housekeeping() {
	if d.stack != nil && d.now >= d.hello && len(d.routes.strangers) > 0 {
		d.hello = d.now.Add(4 * d.cfg.Timing.KeepalivePeriod)
		if to := d.routes.nobody(); to != NoNode {
			p := hello(&d.cfg, to, d.now)
			for _, e := range d.routes.strangers {
				if d.routes.searching(e, d.published.Alive) {
					d.post.add(&p, e.Addr, &d.count)
				}
			}
		}
	}
	if d.now >= d.cleanup {
		d.cleanup = d.now.Add(cleanEvery)
		for id := range d.routes.silent(d.now, forgetAfter(&d.cfg.Timing)).All() {
			d.routes.remove(id)
			if d.stack != nil {
				d.stack.RemovePeer(id)
			}
		}
	}
}

// begin starts an incarnation.
func (d *driver) begin() {
	d.cfg.Starts = d.n.files.counter()
	d.stack = stack.New(d.cfg, d.routes.known, d.now, clocksync.Time(time.Now().UnixNano()))
	d.began, d.served, d.waiting = d.now, d.now, ""
	d.readyAt = d.now.Add(d.cfg.Timing.ReadyTime())
	d.incarnations++
}

// restart gives up the incarnation, with everything that rests on its clock,
// and lets a new one begin. Restarts in a row wait longer and longer: a clock
// that goes on to be wrong would only disturb the others.
func (d *driver) restart(why RestartReason, r hwclock.Reading) {
	if d.stack != nil {
		d.distrust(r.Now)
	}
	d.now, d.epoch, d.blame, d.served = r.Now, r.Epoch, "", r.Now
	d.hello, d.cleanup, d.hold = r.Now, r.Now, r.Now
	for id := range d.routes.known.All() {
		d.routes.to[id].heard, d.routes.to[id].altUntil = r.Now, r.Now
	}
	if r.Now.Sub(d.began) > restLong || why == Suspended {
		d.quick = 0
	} else if d.quick++; d.quick > 1 {
		wait := d.cfg.Timing.ReadyTime() << min(d.quick, 10)
		d.hold = r.Now.Add(min(wait, maxHold))
	}
	d.waiting = why
	previous := d.cfg.Self.Boot
	d.cfg.Self.Boot = newBoot(d.n.random)
	if err := d.n.files.count(); err != nil {
		d.n.log.Warn("votes of this incarnation do not compare with those of the one before", "error", err)
	}
	d.flush()
	d.recast(why)
	d.n.hub.add(Restarted{d.n.hub.header(), why, previous, d.cfg.Self.Boot})
}

// distrust ends the incarnation. What it says last must not free votes: when
// that is safe was reckoned with the clock that is not trusted any more.
func (d *driver) distrust(now timed.Instant) {
	d.now = now
	effects := d.stack.Distrust(now, d.effects[:0])
	for i := range effects {
		if p := effects[i].Packet; p != nil {
			p.Frames &^= stack.FrameRelease
		}
	}
	d.perform(effects)
	d.flush()
	d.count.add(d.stack)
	d.stack = nil
}

// measure notes how late the loop is for what was due.
func (d *driver) measure(due, now timed.Instant) {
	if now < due || due == timed.Never {
		return
	}
	l := &d.late
	l.Last = now.Sub(due)
	l.Timers++
	l.Max = max(l.Max, l.Last)
	l.Average += (l.Last - l.Average) / 16
	if l.Last > d.cfg.Timing.SchedulingDelay {
		l.Late++
	}
}

// finish makes the end known. The state comes first: nobody may hear of the end
// while an answer still says that the node leads.
func (d *driver) finish() {
	n := d.n
	n.last = d.status()
	if d.stack != nil {
		d.count.add(d.stack)
		d.stack = nil
	}
	d.publish()
	if d.cast != nil {
		d.handOver()
		d.cast.out.over()
		if d.cast.in != nil {
			d.cast.in.close()
		}
	}
	n.desk.close()
	if err := n.outputs.close(); err != nil {
		n.log.Error("what serves time did not end well", "error", err)
	}
	_ = n.conn.Close()
	n.err = errors.Join(d.failure, n.release())
	if d.failure != nil {
		n.err = d.failure // typed, and as it is
	}
	close(n.hub.over)
	close(n.done)
}
