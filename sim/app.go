package sim

import (
	"fmt"
	"time"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// Handlers are what an application wants to hear of. Each is called in the
// process's turn, after the platform's own state has changed, and may call the
// methods of its [Node]. Those that are nil are not called.
//
// An application that keeps something across crashes keeps it outside of what
// Options.App makes: all else dies with the process.
type Handlers struct {
	// View says that a view was installed, or became up to date or stale.
	View func(v *membership.View, upToDate bool)
	// Leader says that the node began or ended to lead, or follows another
	// leader, or none (0).
	Leader func(leads bool, follows timed.NodeID)
	// Clock says that the node follows another timeline of group time.
	Clock func(r clocksync.Reading)
	// Deliver hands over a message.
	Deliver func(m Message)
	// Cast is what the application hears of the atomic broadcast.
	Cast CastHandlers
	// Stop says that the process has crashed. It is for the books of a test: a
	// process that crashes does nothing any more.
	Stop func()
}

// Message is what an application of one node said to that of another. It comes
// with the fail-aware datagram service's bound: at most once for each sending,
// unless the network repeats it; in any order.
type Message struct {
	From    timed.Incarnation
	Payload []byte // shared: not to be changed
	Delay   datagram.Delay
}

// Invariant is something that an application promises. Check is called after
// every event of the world, sees all nodes at one instant of true time, and
// must not change anything. An error is a violation of that name.
type Invariant struct {
	Name  string
	Check func(w *World) error
}

// Limits of applications. Whoever exceeds one panics: a simulated application is
// part of a test.
const (
	MaxPayload = 1 << 20 // bytes
	MaxTimers  = 1 << 16 // running at once, in a world
	maxSays    = 1 << 12 // messages in one turn
)

// app is what a world keeps for the applications on its nodes.
type app struct {
	make       func(*Node) Handlers
	invariants []Invariant
	listens    bool // some node has an application

	events []stack.Event // of the turn under way
	came   []Message     // in the turn under way
	cast   []heardCast   // in the turn under way
	says   []say         // what applications want to send after it
	said   int           // how many of them have been sent
	busy   bool          // they are being sent
	timers []appTimer
	free   []int32
}

type say struct {
	n       *Node
	to      timed.NodeID
	payload []byte
}

type appTimer struct {
	n    *Node
	life uint64
	due  timed.Instant
	do   func()
}

func (a *app) started(w *World, n *Node) {
	n.lives++
	if a.make == nil {
		return
	}
	n.handlers, a.listens = Handlers{}, true
	n.handlers = a.make(n)
	a.speak(w)
}

func (a *app) crashed(n *Node) {
	if stop := n.handlers.Stop; stop != nil {
		stop()
	}
	n.handlers = Handlers{}
	n.lives++ // its timers are void
}

func (a *app) hears(n *Node, e *stack.Event) { a.events = append(a.events, *e) }

func (a *app) arrived(n *Node, f *flight) {
	d, verdict := n.st.LastPacket()
	if f.from != nobody && (verdict == datagram.Delivered || verdict == datagram.Accepted) {
		h := &f.packet.Header
		a.came = append(a.came, Message{From: timed.Incarnation{Node: h.Source, Boot: h.Boot}, Payload: f.payload, Delay: d})
	}
}

// turn lets the application see what the turn of its node brought, and checks
// the invariants.
func (a *app) turn(w *World, n *Node) {
	h := &n.handlers
	events, came, cast := a.events, a.came, a.cast
	a.events, a.came, a.cast = nil, nil, nil // handlers may cause turns of their own
	for i := range events {
		cast = h.hearCast(cast, i)
		h.hear(n, &events[i])
	}
	h.hearCast(cast, len(events))
	for _, m := range came {
		if h.Deliver != nil {
			h.Deliver(m)
		}
	}
	if a.events == nil {
		a.events, a.came = events[:0], came[:0]
	}
	a.speak(w)
	a.check(w)
}

func (a *app) check(w *World) {
	if w.check.failed != nil {
		return
	}
	for i := range a.invariants {
		if err := a.invariants[i].Check(w); err != nil {
			w.check.failed = &Violation{Seed: w.seed, Check: a.invariants[i].Name,
				At: time.Duration(w.now - origin), Detail: err.Error()}
			return
		}
	}
}

func (h *Handlers) hear(n *Node, e *stack.Event) {
	switch e.Kind {
	case stack.EventViewInstalled, stack.EventViewFresh, stack.EventViewStale:
		if h.View != nil {
			v, fresh := n.View()
			h.View(v, fresh)
		}
	case stack.EventElected, stack.EventLeadLost, stack.EventFollowing:
		if h.Leader != nil {
			h.Leader(n.Leads(), n.Follows())
		}
	case stack.EventClockAdopted, stack.EventClockStepped:
		if h.Clock != nil {
			h.Clock(n.Clock())
		}
	}
}

// speak sends what applications have said.
func (a *app) speak(w *World) {
	if a.busy { // what is said by the way goes with the rest
		return
	}
	a.busy = true
	for ; a.said < len(a.says); a.said++ {
		if s := a.says[a.said]; s.n.up && !s.n.upset {
			w.say(s.n, s.to, s.payload)
		}
	}
	clear(a.says)
	a.says, a.said, a.busy = a.says[:0], 0, false
}

// say sends a bare packet that carries an application's message.
func (w *World) say(n *Node, to timed.NodeID, payload []byte) {
	now := n.tick(w.now)
	out := n.st.Say(now, to, w.out[:0])
	w.cargo, w.cargoTo = payload, to
	w.after(n, now, out)
	w.cargo = nil
}

// fire lets an application's timer run.
func (w *World) fire(e event) {
	t := &w.app.timers[e.arg]
	n := t.n
	if n.stalledUntil > w.now {
		w.schedule(n.stalledUntil+n.jitter(w), timer, n.index, e.arg)
		return
	}
	if n.up && n.lives == t.life && n.tick(w.now) < t.due { // the clock was bent
		w.schedule(max(w.now, n.clock.when(t.due)), timer, n.index, e.arg)
		return
	}
	do, life := t.do, t.life
	*t = appTimer{}
	w.app.free = append(w.app.free, e.arg)
	if n.up && n.lives == life {
		do()
		w.app.speak(w)
		w.app.check(w)
	}
}

func (n *Node) mustFit(payload []byte) {
	if len(payload) > MaxPayload {
		panic(fmt.Sprintf("sim: a payload of %d bytes: at most %d", len(payload), MaxPayload))
	}
	if len(n.w.app.says)-n.w.app.said >= maxSays {
		panic(fmt.Sprintf("sim: node %d says more than %d messages at once", n.id, maxSays))
	}
}
