package sim

import (
	"container/heap"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"time"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/timed"
)

// castWorld is a small deterministic world for the broadcast: whole stacks, all
// packets through the wire format, and links and processes that fail far more
// often than any real ones. The same seed gives the same run.
type castWorld struct {
	opt    castOptions
	rng    *rand.Rand
	now    int64
	seq    uint64
	queue  castQueue
	nodes  []*castProcess
	cut    [][]bool
	check  *castCheck
	failed error
	enc    stack.Encoder
	dec    stack.Decoder
	packet stack.Packet

	temper castTemper
	views  int
	casts  int
	full   int
	done   int
	trace  bool
}

// castOptions choose what a run does.
type castOptions struct {
	nodes    int
	rage     time.Duration
	timed    bool
	quorum   bool
	slow     bool // applications stop taking deliveries now and then
	gentle   bool // no faults but those of the links
	large    bool // many payloads travel in fragments
	noCrash  bool
	rate     float64 // messages a second of each node
	lossless bool
}

// castTemper is how hard the faults of a seed are.
type castTemper struct {
	loss, late, twice, replay   float64
	lateMax, minDelay, maxDelay int64
	split, crash, stall, deafen bool
	pace, reboot                float64
	orders, atomicities         []uint8
	rate                        float64
	maxPayload                  int
	lossNow, lateNow, twiceNow  float64
	replayNow                   float64
	window, packet, backlog     int
}

type castProcess struct {
	id         timed.NodeID
	inc        timed.Incarnation
	st         *stack.Stack
	up         bool
	base       int64
	at         timed.Instant
	rate       float64
	last       timed.Instant
	counter    uint64
	stall      int64
	ticket     uint64
	armed      int64
	out        []stack.Effect
	lazy       int64 // until when the application takes no deliveries
	owedBytes  int
	owedCount  int
	sequence   uint64
	overrun    bool
	slowEvents int
}

type castEvent struct {
	at  int64
	seq uint64
	f   func()
}

type castQueue []castEvent

func (q castQueue) Len() int { return len(q) }
func (q castQueue) Less(i, j int) bool {
	return q[i].at < q[j].at || q[i].at == q[j].at && q[i].seq < q[j].seq
}
func (q castQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *castQueue) Push(x any)   { *q = append(*q, x.(castEvent)) }
func (q *castQueue) Pop() any {
	old := *q
	e := old[len(old)-1]
	old[len(old)-1] = castEvent{}
	*q = old[:len(old)-1]
	return e
}

func newCastWorld(seed uint64, opt castOptions) *castWorld {
	w := &castWorld{opt: opt, rng: rand.New(rand.NewPCG(seed, 0xb0ad)), now: int64(1000 * time.Second),
		check: newCastCheck(), trace: os.Getenv("CAST_TRACE") != ""}
	if w.opt.nodes == 0 {
		w.opt.nodes = 2 + w.rng.IntN(5)
	}
	w.draw()
	w.check.fail = func(check string, node timed.NodeID, format string, args ...any) {
		if w.failed == nil {
			w.failed = &Violation{Seed: seed, Check: check, Node: node, At: time.Duration(w.now - int64(1000*time.Second)),
				Detail: fmt.Sprintf(format, args...)}
		}
	}
	w.check.sometimes, w.check.now = func(Situation) {}, func() int64 { return w.now }
	w.check.drift = timed.LAN().MaxDrift
	if opt.quorum {
		w.check.quorum = w.group()
	}
	w.cut = make([][]bool, w.opt.nodes)
	for i := range w.cut {
		w.cut[i] = make([]bool, w.opt.nodes)
	}
	for i := range w.opt.nodes {
		n := &castProcess{id: timed.NodeID(i + 1)}
		w.nodes = append(w.nodes, n)
		w.reboot(n)
		w.start(n)
	}
	return w
}

func (w *castWorld) group() (g timed.Set) {
	for i := range w.opt.nodes {
		g.Add(timed.NodeID(i + 1))
	}
	return g
}

func (w *castWorld) chance(p float64) bool { return p > 0 && w.rng.Float64() < p }

func (w *castWorld) log(lo, hi float64) float64 {
	return lo * math.Exp(w.rng.Float64()*math.Log(hi/lo))
}

// reboot gives a process a new hardware clock.
func (w *castWorld) reboot(n *castProcess) {
	rho := float64(timed.LAN().MaxDrift) / 1e9
	n.base, n.at, n.rate, n.last = w.now, timed.Instant(w.rng.Int64N(int64(time.Hour))+int64(time.Second)), 1+rho*0.99*(2*w.rng.Float64()-1), 0
}

func (n *castProcess) show(t int64) timed.Instant {
	h := n.at + timed.Instant(float64(t-n.base)*n.rate)
	n.last = timed.Later(n.last, h)
	return n.last
}

func (n *castProcess) when(h timed.Instant) int64 {
	if h == timed.Never {
		return math.MaxInt64
	}
	return n.base + int64(float64(h-n.at)/n.rate) + 2
}

func (w *castWorld) start(n *castProcess) {
	n.inc = timed.Incarnation{Node: n.id, Boot: timed.BootID(w.rng.Uint64() | 1)}
	n.up, n.counter, n.stall, n.sequence, n.overrun, n.lazy, n.owedBytes, n.owedCount = true, 0, 0, 0, false, 0, 0, 0
	wall := clocksync.Time(w.now + w.rng.Int64N(int64(20*time.Millisecond)))
	t := &w.temper
	cfg := &broadcast.Config{Window: t.window, PacketBytes: t.packet, MaxPayload: 4000, MaxMessages: 256, Backlog: t.backlog, SlowAfter: 100 * time.Millisecond}
	if w.opt.quorum {
		cfg.RequireQuorum = w.group()
	}
	n.st = stack.New(stack.Config{Self: n.inc, Group: 1, Timing: timed.LAN(),
		MaxDeviation: clocksync.DefaultMaxDeviation, MaxSlew: clocksync.DefaultMaxSlew,
		StepThreshold: clocksync.DefaultStepThreshold, Broadcast: cfg}, w.group().Without(n.id), n.show(w.now), wall)
	w.check.started(n.inc, n.st)
	if w.trace {
		w.tell(n, "starts %v", n.inc)
	}
	n.armed = math.MaxInt64
	w.arm(n)
	w.schedule(w.now+w.rng.Int64N(int64(50*time.Millisecond)), w.talk(n, n.inc))
}

func (w *castWorld) schedule(at int64, f func()) {
	w.seq++
	heap.Push(&w.queue, castEvent{max(at, w.now), w.seq, f})
}

// arm schedules the node's next look at its timers.
func (w *castWorld) arm(n *castProcess) {
	at := max(n.when(n.st.Deadline()), w.now, n.stall)
	if at >= n.armed {
		return
	}
	n.armed = at
	n.ticket++
	ticket := n.ticket
	w.schedule(at+w.rng.Int64N(200_000), func() {
		if n.up && n.ticket == ticket {
			n.armed = math.MaxInt64
			if n.stall > w.now {
				w.arm(n)
				return
			}
			w.act(n)
		}
	})
}

func (w *castWorld) act(n *castProcess) {
	w.perform(n, n.st.HandleTimeout(n.show(w.now), n.out[:0]))
}

// talk makes a node broadcast now and then.
func (w *castWorld) talk(n *castProcess, inc timed.Incarnation) func() {
	return func() {
		if !n.up || n.inc != inc || w.done > 0 {
			return
		}
		w.schedule(w.now+int64(w.rng.ExpFloat64()/w.temper.rate*1e9), w.talk(n, inc))
		if n.stall > w.now || w.failed != nil {
			return
		}
		if now := n.show(w.now); n.st.Deadline() <= now {
			w.act(n) // the loop of a node does what is due before it takes more
		}
		for range 1 + w.rng.IntN(3) {
			w.cast(n)
		}
		w.arm(n)
	}
}

func (w *castWorld) cast(n *castProcess) {
	t := &w.temper
	opt := broadcast.Options{Order: broadcast.Order(t.orders[w.rng.IntN(len(t.orders))]),
		Atomicity: broadcast.Atomicity(t.atomicities[w.rng.IntN(len(t.atomicities))])}
	n.sequence++
	payload := make([]byte, 16+w.rng.IntN(t.maxPayload))
	binary.BigEndian.PutUint64(payload, uint64(n.inc.Boot))
	binary.BigEndian.PutUint64(payload[8:], n.sequence)
	for i := 16; i < len(payload); i++ {
		payload[i] = byte(i) ^ byte(n.sequence)
	}
	now := n.show(w.now)
	id, err := n.st.Broadcast(now, payload, opt)
	if err != nil {
		w.full++
		return
	}
	w.casts++
	w.check.broadcast(n.inc, id, payload, opt, w.now, n.st.Clock().Read(now).Timeline)
}

// perform does what a turn of a node wants, in order.
func (w *castWorld) perform(n *castProcess, out []stack.Effect) {
	restart := false
	for i := range out {
		switch e := &out[i]; e.Kind {
		case stack.Send, stack.Answer:
			w.send(n, e)
		case stack.Cast:
			w.take(n, e.Cast)
		case stack.Notify:
			switch e.Event.Kind {
			case stack.EventViewInstalled:
				w.views++
				if w.trace {
					w.tell(n, "view %v %v from %v", e.Event.View.ID, e.Event.View.Set, e.Event.Previous)
				}
			case stack.EventOverrun:
				restart = true
			case stack.EventSlowConsumer:
				n.slowEvents++
			case stack.EventClockFault, stack.EventDuplicateID, stack.EventRestart, stack.EventMismatch:
				w.check.fail("event", n.id, "event %d", e.Event.Kind)
			}
		}
	}
	n.out = out[:0]
	if restart { // this incarnation leaves; the next one has a fresh queue
		w.crash(n, int64(10*time.Millisecond))
		return
	}
	if n.owedCount > 0 && w.now >= n.lazy {
		n.st.Consumed(n.show(w.now), n.owedBytes, n.owedCount)
		n.owedBytes, n.owedCount = 0, 0
	}
	w.arm(n)
}

func (w *castWorld) tell(n *castProcess, format string, args ...any) {
	fmt.Fprintf(os.Stderr, "%12.6f  node %d  %s\n", float64(w.now-int64(1000*time.Second))/1e9, n.id, fmt.Sprintf(format, args...))
}

// take hands an effect of the broadcast to the check.
func (w *castWorld) take(n *castProcess, e *broadcast.Effect) {
	switch e.Kind {
	case broadcast.Deliver:
		for i := range e.Deliveries {
			d := &e.Deliveries[i]
			if w.trace {
				w.tell(n, "delivers %v %v pos %d trans %v in %v", d.ID, d.Options, d.Position, d.Transitional, e.View.ID)
			}
			w.check.delivered(n.inc, e.View, d)
			n.owedBytes += len(d.Payload)
			n.owedCount++
		}
		// Once acknowledgements have stopped, what can still come is what the
		// senders may have under way.
		t := &w.temper
		if most := t.backlog + t.window + len(w.nodes)*8000; n.owedBytes+64*n.owedCount > most {
			w.check.fail("memory", n.id, "%d bytes of deliveries wait, more than %d", n.owedBytes+64*n.owedCount, most)
		}
	case broadcast.Transition:
		w.check.transition(n.inc, e.View, e.Next, e.Along)
	case broadcast.Installed:
		w.check.installed(n.inc, e.View)
	case broadcast.Elsewhere:
		if w.trace {
			w.tell(n, "elsewhere class %d %d..%d", e.Class, e.From, e.Through)
		}
		w.check.elsewhere(n.inc, e.Class, e.From, e.Through)
	}
}

// send puts a packet on its link, in its wire format.
func (w *castWorld) send(n *castProcess, e *stack.Effect) {
	n.counter++
	p := e.Packet
	b, err := w.enc.Append(nil, p)
	if err != nil {
		w.check.fail("codec", n.id, "%v", err)
		return
	}
	datagram.PatchStamp(b, p.Header.Stamp, n.counter)
	if p.Has(stack.FrameBroadcast) {
		for i := range p.Broadcast.Decisions {
			w.check.decided(p.Broadcast.View, &p.Broadcast.Decisions[i])
		}
	}
	from, to := int(n.id)-1, int(e.To)-1
	t := &w.temper
	if w.cut[from][to] || w.chance(t.lossNow) {
		return
	}
	w.fly(to, b)
	if w.chance(t.twiceNow) {
		w.fly(to, b)
	}
	if w.chance(t.replayNow) {
		w.schedule(w.now+w.rng.Int64N(int64(3*time.Second)), func() { w.arrive(to, b) })
	}
}

func (w *castWorld) fly(to int, b []byte) {
	t := &w.temper
	d := t.minDelay + w.rng.Int64N(t.maxDelay-t.minDelay+1)
	if w.chance(t.lateNow) {
		d += w.rng.Int64N(t.lateMax)
	}
	w.schedule(w.now+d, func() { w.arrive(to, b) })
}

func (w *castWorld) arrive(to int, b []byte) {
	n := w.nodes[to]
	if !n.up || w.failed != nil {
		return
	}
	if n.stall > w.now {
		w.schedule(n.stall+w.rng.Int64N(100_000), func() { w.arrive(to, b) })
		return
	}
	if err := w.dec.Decode(b, &w.packet); err != nil {
		w.check.fail("codec", n.id, "%v", err)
		return
	}
	if w.packet.Header.Destination != n.id {
		return
	}
	now := n.show(w.now)
	w.perform(n, n.st.HandlePacket(now, now, &w.packet, n.out[:0]))
}

func (w *castWorld) crash(n *castProcess, down int64) {
	if w.trace {
		w.tell(n, "crashes for %v", time.Duration(down))
	}
	n.up = false
	w.schedule(w.now+down, func() {
		if w.chance(0.3) {
			w.reboot(n)
		}
		w.start(n)
	})
}

// settled checks, when the world has been still for long, that every message of
// a running incarnation has its outcome, and that the members of one view have
// delivered the same in it.
func (c *castCheck) settled(running []timed.Incarnation) {
	for _, inc := range running {
		n := c.nodes[inc]
		for _, id := range n.mine {
			if !c.sent[id].outcome {
				c.fail("loss", inc.Node, "its %v (%v) has no outcome", id, c.sent[id].opt)
			}
		}
		for _, other := range running {
			o := c.nodes[other]
			if n.view != nil && o.view != nil && n.view.ID == o.view.ID && digest(n.inView) != digest(o.inView) {
				c.fail("loss", inc.Node, "has delivered %d messages in %v, node %d %d", len(n.inView), n.view.ID, other.Node, len(o.inView))
			}
		}
	}
}
