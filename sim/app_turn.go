package sim

import (
	"errors"
	"fmt"
	"time"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/sim/fault"
	"github.com/failaware/failaware/sim/internal/check"
	"github.com/failaware/failaware/timed"
)

// news is a call of a handler that is due.
type news struct {
	n    *Node
	life uint64 // of the process; 0: whichever runs
	kind newsKind
	peer timed.NodeID
	boot timed.BootID
	view *membership.View
	do   func()
	msg  Message
	cast *broadcast.Effect
}

type newsKind uint8

const (
	newsStart newsKind = iota + 1
	newsStop
	newsTimer
	newsMessage
	newsInstalled
	newsFresh
	newsStale
	newsElected
	newsLost
	newsFollows
	newsClock
	newsAlive
	newsSilent
	newsRestarted
	newsCast
)

// newsOf maps the platform's events to calls of handlers; 0: none.
var newsOf = [256]newsKind{
	stack.EventViewInstalled: newsInstalled, stack.EventViewFresh: newsFresh, stack.EventViewStale: newsStale,
	stack.EventElected: newsElected, stack.EventLeadLost: newsLost, stack.EventFollowing: newsFollows,
	stack.EventClockAdopted: newsClock, stack.EventClockStepped: newsClock,
	stack.EventPeerAlive: newsAlive, stack.EventPeerSilent: newsSilent,
}

// ask is a request of a process or the test.
type ask struct {
	n       *Node
	life    uint64
	kind    askKind
	to      timed.NodeID
	payload []byte
	fault   int32
}

type askKind uint8

const (
	askSend askKind = iota
	askResign
	askFault
)

func (a *app) started(n *Node) {
	n.lives++
	n.told = told{}
	if a.Start != nil {
		a.news = append(a.news, news{n: n, life: n.lives, kind: newsStart})
	}
}

func (a *app) crashed(n *Node) {
	if stop := n.handlers.Stop; stop != nil {
		a.news = append(a.news, news{n: n, kind: newsStop, do: stop})
	}
	n.handlers = Handlers{}
	n.lives++ // pending news and requests are void
	a.stopTimers(n)
}

// holds notes that a process waits to begin another incarnation. What its broadcast has
// just handed over is still told.
func (a *app) holds(n *Node) {
	h := n.handlers
	for i := a.told; i < len(a.news); i++ {
		if x := &a.news[i]; x.n == n && x.kind == newsCast && x.life == n.lives {
			cast := x.cast
			*x = news{n: n, kind: newsStop, do: func() { h.Broadcast.hear(cast) }}
		}
	}
	a.crashed(n)
}

// hears notes an event of the platform.
func (a *app) hears(n *Node, e *stack.Event) {
	if kind := newsOf[e.Kind]; kind != 0 {
		a.news = append(a.news, news{n: n, life: n.lives, kind: kind, peer: e.Peer, view: e.View})
	}
}

func (a *app) restarted(n *Node, previous timed.BootID) {
	if a.Start != nil {
		a.news = append(a.news, news{n: n, life: n.lives, kind: newsRestarted, boot: previous})
	}
}

// arrived notes a message, if its packet counts. Its payload is part of the run's hash,
// which thus shows whether an application is deterministic.
func (w *World) arrived(n *Node, f *flight) {
	w.mixPayload(f)
	kind, delay := n.proc.Stack.LastPacket()
	if f.from != nobody && (kind == datagram.Delivered || kind == datagram.Accepted) {
		w.hands(n, f, delay)
	}
}

// hear notes a message that came without a packet of the platform.
func (w *World) hear(n *Node, f *flight) {
	w.mixPayload(f)
	w.hands(n, f, datagram.Delay{Bound: datagram.Unknown})
}

func (w *World) hands(n *Node, f *flight, d datagram.Delay) {
	from := timed.Incarnation{Node: f.packet.Header.Source, Boot: f.packet.Header.Boot}
	w.app.news = append(w.app.news, news{n: n, life: n.lives, kind: newsMessage, msg: Message{from, f.payload, d}})
}

func (w *World) mixPayload(f *flight) {
	h := check.Hash(len(f.payload))
	for _, b := range f.payload {
		h.Mix(uint64(b))
	}
	w.mix(uint64(h))
}

// endEvent calls handlers and grants requests until there are no more of either, and then
// checks the invariants. Every event ends with it.
func (w *World) endEvent() {
	a := &w.app
	if a.phase != outside || len(a.news)+len(a.asks)+len(a.Invariants) == 0 {
		return
	}
	a.phase = turning
	for a.told < len(a.news) || a.done < len(a.asks) {
		if a.told < len(a.news) {
			x := a.news[a.told]
			a.told++
			x.tell(a)
			continue
		}
		x := a.asks[a.done]
		a.done++
		w.grant(&x)
	}
	clear(a.news) // release their memory
	clear(a.asks)
	a.news, a.asks, a.told, a.done = a.news[:0], a.asks[:0], 0, 0
	a.phase = checking
	a.at = nil
	for i := range a.Invariants {
		if w.failed != nil {
			break
		}
		if err := a.Invariants[i].Check(); err != nil {
			v, ok := errors.AsType[*Violation](err)
			if !ok {
				v = &Violation{Check: a.Invariants[i].Name, Detail: err.Error()}
			}
			v.Seed, v.At = w.seed, w.Time()
			w.failed = v
		}
	}
	a.phase = outside
}

func (x *news) tell(a *app) {
	n := x.n
	if x.life != 0 && x.life != n.lives {
		return // it has crashed since
	}
	a.at = n
	h := &n.handlers
	switch x.kind {
	case newsStart:
		n.handlers = a.Start(n)
	case newsStop, newsTimer:
		x.do()
	case newsMessage:
		if h.Deliver != nil {
			h.Deliver(x.msg)
		}
	case newsInstalled, newsFresh, newsStale:
		v, fresh := n.View()
		n.tellView(x.view, fresh && v == x.view && x.kind != newsStale)
	case newsElected, newsLost:
		n.tellLeader(x.kind == newsElected && n.Leads(), n.Follows())
	case newsFollows:
		n.tellLeader(n.Leads(), x.peer)
	case newsClock:
		if h.Clock != nil {
			h.Clock(n.Clock())
		}
	case newsAlive, newsSilent:
		if h.Peer != nil {
			h.Peer(x.peer, x.kind == newsAlive)
		}
	case newsCast:
		h.Broadcast.hear(x.cast)
	case newsRestarted:
		if h.Restarted != nil {
			h.Restarted(x.boot)
		}
	}
}

func (n *Node) tellView(v *membership.View, fresh bool) {
	if v == n.told.view && fresh == n.told.fresh {
		return
	}
	n.told.view, n.told.fresh = v, fresh
	if h := n.handlers.View; h != nil {
		h(v, fresh)
	}
}

func (n *Node) tellLeader(leads bool, follows timed.NodeID) {
	if leads == n.told.leads && follows == n.told.follows {
		return
	}
	n.told.leads, n.told.follows = leads, follows
	if h := n.handlers.Leader; h != nil {
		h(leads, follows)
	}
}

// grant fulfills a request.
func (w *World) grant(x *ask) {
	n := x.n
	if x.kind == askFault {
		w.beginFault(x.fault)
		return
	}
	if !n.proc.Up || x.life != n.lives {
		return // it crashed in the meantime
	}
	switch {
	case x.kind == askResign:
		w.resign(n)
	case n.stalledUntil > w.now: // it was stopped before it came to that
		y := *x
		n.after(0, func() { w.app.ask(y) })
	case !n.proc.Upset && w.readWaiting(n) && x.life == n.lives:
		w.say(n, x.to, x.payload)
	}
}

// say sends a bare packet that carries an application's message.
func (w *World) say(n *Node, to timed.NodeID, payload []byte) {
	if w.opt.Bare {
		w.sayBare(n, to, payload)
		return
	}
	now := n.tick(w.now)
	out := n.proc.Stack.SendKeepalive(now, to, w.out[:0])
	w.cargo, w.cargoTo = payload, to
	w.after(n, now, out)
	w.cargo = nil
}

func (a *app) ask(x ask) {
	if len(a.asks)-a.done >= MaxAsks {
		panic(fmt.Sprintf("sim: more than %d requests in one turn", MaxAsks))
	}
	a.asks = append(a.asks, x)
}

// may panics when the world is not to be changed: from an invariant.
func (w *World) may(what string) {
	if w.app.phase == checking {
		panic("sim: " + what + " from an invariant, which must not change the world")
	}
}

// mayRun panics when the world is being run already.
func (w *World) mayRun(what string) {
	if w.may(what); w.app.phase != outside {
		panic("sim: " + what + " from inside of the world: time passes by itself")
	}
}

// request fulfills a request, unless the turn under way will do so. It serves calls
// that may come from the test itself.
func (w *World) request(x ask) {
	if w.failed != nil {
		return
	}
	w.app.ask(x)
	if w.app.phase == outside {
		defer w.caught()
		w.endEvent()
	}
}

// begin starts the application.
func (w *World) begin() {
	defer w.caught()
	if w.opt.App != nil {
		w.app.App = w.opt.App(w)
	}
	for _, v := range w.app.Invariants {
		if v.Name == "" || v.Check == nil {
			panic("sim: an invariant needs a Name and a Check")
		}
	}
	for _, n := range w.nodes {
		w.app.started(n)
	}
	w.endEvent()
}

// advance performs what happens up to true time t. A panic, which is almost
// always the application's, ends the run as a violation.
func (w *World) advance(t int64) {
	if w.failed == nil {
		defer w.caught()
		w.runUntil(t)
	}
}

// mayLast bounds a requested time, so that no sum overflows.
func mayLast(d time.Duration) time.Duration { return min(max(d, 0), fault.MaxDuration) }
