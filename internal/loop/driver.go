package loop

import (
	"errors"
	"net"
	"runtime"
	"sync"

	"github.com/failaware/failaware/internal/claim"
	"github.com/failaware/failaware/internal/histogram"
	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/internal/introduce"
	"github.com/failaware/failaware/internal/join"
	"github.com/failaware/failaware/internal/life"
	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/internal/udp"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/timed"
)

// driver is the loop's own state. Each turn reads the clock once, lets the stack
// handle packets and timers, publishes the new state, and then sends packets and
// reports events.
type driver struct {
	mu sync.Mutex // guards all driver state; run releases it only while it waits for packets

	l          *Loop
	clock      turnClock
	trust      *Trust // in the clock, of the incarnation or the next one
	life       life.Machine
	cfg        stack.Config // of the incarnation, or of the next one
	stack      *stack.Stack // nil between two incarnations
	in         inbound
	opening    opening
	routes     routes
	out        outbound
	msgs       *messages // nil without broadcast
	pub        publication
	report     report
	asked      questions
	count      counts
	delays     histogram.Durations // proven bounds, of packets of accepted incarnations
	mismatches mismatches
	lag        lag
	quorums    quorums
	voters     voters
	nextLook   timed.Instant // when to look at the events that wait for settings; 0: none waits

	introductions *introduce.Machine // nil between two incarnations
	introduced    []introduce.Effect // of the handler called last
	candidates    *join.Found        // that the introductions know
	claims        claiming
	rivalry       rivalry

	alarmed timed.Instant  // when the last event said that a packet cannot be encoded
	effects []stack.Effect // of the handler called last
	failure error          // why the loop ends by itself
}

func newDriver(l *Loop) *driver {
	c := &l.cfg
	d := &driver{l: l, cfg: c.Stack}
	r := c.Clock.Read()
	d.clock.now, d.clock.era, d.trust = r.Now, r.Era, NewTrust(r.Now)
	d.life = life.New(&d.cfg.Timing, c.State.Earlier(), r.Now)
	d.routes.self, d.routes.limit = d.cfg.Self.Node, c.MaxPeers
	d.in.pkts = make([]udp.Packet, batch)
	d.out.encoder.MaxPacket, d.out.bulk, d.out.random = c.MaxPacket, d.cfg.Broadcast != nil, c.Random
	d.out.counter = wire.FirstCounter(wire.Version)
	d.takeRing(c.Ring)
	d.cfg.Self.Boot, d.cfg.Sequence = newBoot(c.Random), c.State.FormerViews()
	if d.cfg.Broadcast != nil {
		d.msgs = &messages{sends: l.sends, deliveries: l.deliveries}
		d.msgs.wait, _ = c.Conn.(shortWait)
		d.msgs.sends.Restart(d.cfg.Self.Boot)
	}
	d.claims.kept, d.rivalry.duel = c.Claim != nil && c.Claim.Held, claim.NewDuel(r.Now)
	d.publish()
	d.takePeers()
	return d
}

// newBoot draws a boot id.
func newBoot(random func() uint64) timed.BootID {
	for {
		if id := timed.BootID(random()); id != 0 {
			return id
		}
	}
}

// run is the loop.
func (d *driver) run() {
	d.mu.Lock()
	defer d.finish()
	d.turn(nil, d.l.cfg.Clock.Read())
	got := 0
	for !d.life.Over() {
		if !d.l.cfg.Gate.Pass() {
			return
		}
		// The last turn served everything that was due in it.
		d.clock.until = timed.Later(d.deadline(), d.clock.now)
		n, err := d.wait(got > 0)
		switch {
		case d.life.Over() || d.l.closing.Load() || errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			d.failure = err
			return
		}
		got = n
		r := d.l.cfg.Clock.Read()
		d.clock.measure(r.Now, d.cfg.Timing.SchedulingDelay)
		d.turn(d.in.pkts[:n], r)
	}
}

// wait waits until packets come or something is due. Meanwhile callers may take
// turns. busy says that packets came in the last turn.
func (d *driver) wait(busy bool) (n int, err error) {
	until, yield := d.clock.until, false
	if d.msgs != nil {
		d.msgs.expect(d.stack)
		yield = busy && d.msgs.yields(d.clock.now)
	}
	d.mu.Unlock()
	defer d.mu.Lock()
	if yield {
		runtime.Gosched()
	}
	return d.l.cfg.Conn.ReadBatch(d.in.pkts, until)
}

// deadline returns when the loop must run next.
func (d *driver) deadline() timed.Instant {
	at := d.routes.cleanup
	if d.stack == nil {
		return timed.Earlier(at, d.life.BeginAt(d.behind()))
	}
	if d.msgs != nil && d.msgs.more {
		return d.clock.now
	}
	if len(d.routes.strangers) > 0 {
		at = timed.Earlier(at, d.routes.hello)
	}
	if d.nextLook != 0 {
		at = timed.Earlier(at, d.nextLook)
	}
	at = timed.Earlier(at, d.introductions.Deadline())
	if m := d.claims.machine; m != nil {
		at = timed.Earlier(at, m.Deadline())
	}
	return timed.Earlier(at, d.stack.Deadline())
}

// turn is one turn of the loop with the packets that have come, at a reading of the
// clock.
func (d *driver) turn(pkts []udp.Packet, r hwclock.Reading) {
	if why := life.Check(d.clock.now, r.Now, d.clock.era, r.Era); why != life.None {
		d.restart(why, r.Now, r.Era)
	} else {
		d.clock.now = r.Now
		d.trust.turn.Store(int64(r.Now))
		d.receive(pkts)
	}
	if d.stack == nil && d.clock.now >= d.life.BeginAt(d.behind()) {
		d.begin()
	}
	d.takePeers()
	for _, command := range d.l.commands.Take() {
		command.run(d)
	}
	d.consumed()
	d.supply()
	if d.stack != nil && d.isDue(len(pkts) == 0) {
		d.clock.served = d.clock.now
		d.perform(d.stack.HandleTimeout(d.clock.now, d.effects[:0]))
		if d.msgs != nil && d.msgs.stalled {
			d.supply() // there may be room again, and no packet would tell
		}
	}
	d.lookAtLag()
	d.maintainRoutes()
	d.lookAtWaiting()
	if d.stack != nil {
		d.introduce()
		d.decideClaim()
	}
	if why := d.life.Blamed(); why != life.None && !d.life.Over() {
		if why == life.Inconsistent {
			d.out.drop() // all packets of this turn may rest on the same mistake
		}
		d.restart(why, d.clock.now, d.clock.era)
	} else {
		d.flush()
	}
	if d.life.Leaving() && (d.stack == nil || d.stack.Left(d.clock.now)) {
		d.life.End()
	}
}

// isDue reports whether the stack must look at its timers. It does so after the
// packets: after a stall, packets that came in time then count before the silence of
// the peers.
func (d *driver) isDue(idle bool) bool {
	now := d.clock.now
	return idle || now >= d.stack.Deadline() ||
		now.Sub(d.clock.served) >= d.cfg.Timing.KeepalivePeriod
}

// finish makes the end known. The snapshot comes first: nobody may hear of the end
// while an answer still says that the node leads.
func (d *driver) finish() {
	l := d.l
	l.last = d.status()
	d.retireStack()
	d.publish()
	if d.msgs != nil {
		d.commitMessages()
		d.msgs.sends.Stop()
		if d.msgs.deliveries != nil {
			d.msgs.deliveries.Close()
		}
	}
	l.commands.Close()
	_ = l.cfg.Conn.Close()
	l.err = d.failure
	close(l.done)
}
