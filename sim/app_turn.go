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

// call is a pending call of a handler.
type call struct {
	n      *Node
	life   uint64 // of the process; 0: any
	kind   callKind
	peer   timed.NodeID
	boot   timed.BootID
	view   *membership.View
	do     func()
	msg    Message
	effect *broadcast.Effect
}

type callKind uint8

const (
	callStart callKind = iota + 1
	callStop
	callTimer
	callMessage
	callInstalled
	callFresh
	callStale
	callElected
	callLost
	callFollows
	callClock
	callAlive
	callSilent
	callRestarted
	callBroadcast
)

// callOf maps the platform's events to calls of handlers; 0: none.
var callOf = [256]callKind{
	stack.EventViewInstalled: callInstalled, stack.EventViewFresh: callFresh, stack.EventViewStale: callStale,
	stack.EventElected: callElected, stack.EventLeadLost: callLost, stack.EventFollowing: callFollows,
	stack.EventClockAdopted: callClock, stack.EventClockStepped: callClock,
	stack.EventPeerAlive: callAlive, stack.EventPeerSilent: callSilent,
}

// request is a request of a process or the test.
type request struct {
	n       *Node
	life    uint64
	kind    requestKind
	to      timed.NodeID
	payload []byte
	fault   int32
}

type requestKind uint8

const (
	requestSend requestKind = iota
	requestResign
	requestFault
)

func (a *app) started(n *Node) {
	n.lives++
	n.reported = reported{}
	if a.Start != nil {
		a.calls = append(a.calls, call{n: n, life: n.lives, kind: callStart})
	}
}

func (a *app) crashed(n *Node) {
	if stop := n.handlers.Stop; stop != nil {
		a.calls = append(a.calls, call{n: n, kind: callStop, do: stop})
	}
	n.handlers = Handlers{}
	n.lives++ // its pending calls and requests are void
	a.stopTimers(n)
}

// holdBack notes that a process waits to begin another incarnation. The pending calls of
// its broadcast handlers are still made.
func (a *app) holdBack(n *Node) {
	h := n.handlers
	for i := a.called; i < len(a.calls); i++ {
		if x := &a.calls[i]; x.n == n && x.kind == callBroadcast && x.life == n.lives {
			cast := x.effect
			*x = call{n: n, kind: callStop, do: func() { h.Broadcast.invoke(cast) }}
		}
	}
	a.crashed(n)
}

// noteEvent queues the call of a handler for an event of the platform.
func (a *app) noteEvent(n *Node, e *stack.Event) {
	if kind := callOf[e.Kind]; kind != 0 {
		a.calls = append(a.calls, call{n: n, life: n.lives, kind: kind, peer: e.Peer, view: e.View})
	}
}

func (a *app) restarted(n *Node, previous timed.BootID) {
	if a.Start != nil {
		a.calls = append(a.calls, call{n: n, life: n.lives, kind: callRestarted, boot: previous})
	}
}

// noteMessage queues the delivery of a message if its packet counts. The payload is part
// of the run's hash, which so shows whether the application is deterministic.
func (w *World) noteMessage(n *Node, f *flight) {
	w.mixPayload(f)
	kind, delay := n.proc.Stack.LastPacket()
	if f.from != nobody && (kind == datagram.Delivered || kind == datagram.Accepted) {
		w.queueMessage(n, f, delay)
	}
}

// noteBareMessage queues the delivery of a message without a packet of the platform.
func (w *World) noteBareMessage(n *Node, f *flight) {
	w.mixPayload(f)
	w.queueMessage(n, f, datagram.Delay{Bound: datagram.Unknown})
}

func (w *World) queueMessage(n *Node, f *flight, d datagram.Delay) {
	from := timed.Incarnation{Node: f.packet.Header.Source, Boot: f.packet.Header.Boot}
	w.app.calls = append(w.app.calls, call{n: n, life: n.lives, kind: callMessage, msg: Message{from, f.payload, d}})
}

func (w *World) mixPayload(f *flight) {
	h := check.Hash(len(f.payload))
	for _, b := range f.payload {
		h.Mix(uint64(b))
	}
	w.mix(uint64(h))
}

// endEvent calls handlers and grants requests until none is pending, and then checks the
// invariants. Every event ends with it.
func (w *World) endEvent() {
	a := &w.app
	if a.phase != outside || len(a.calls)+len(a.requests)+len(a.Invariants) == 0 {
		return
	}
	a.phase = turning
	for a.called < len(a.calls) || a.granted < len(a.requests) {
		if a.called < len(a.calls) {
			x := a.calls[a.called]
			a.called++
			x.invoke(a)
			continue
		}
		x := a.requests[a.granted]
		a.granted++
		w.grant(&x)
	}
	clear(a.calls) // release their memory
	clear(a.requests)
	a.calls, a.requests, a.called, a.granted = a.calls[:0], a.requests[:0], 0, 0
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

func (x *call) invoke(a *app) {
	n := x.n
	if x.life != 0 && x.life != n.lives {
		return // it has crashed since
	}
	a.at = n
	h := &n.handlers
	switch x.kind {
	case callStart:
		n.handlers = a.Start(n)
	case callStop, callTimer:
		x.do()
	case callMessage:
		if h.Deliver != nil {
			h.Deliver(x.msg)
		}
	case callInstalled, callFresh, callStale:
		v, fresh := n.View()
		n.reportView(x.view, fresh && v == x.view && x.kind != callStale)
	case callElected, callLost:
		n.reportLeader(x.kind == callElected && n.Leads(), n.Follows())
	case callFollows:
		n.reportLeader(n.Leads(), x.peer)
	case callClock:
		if h.Clock != nil {
			h.Clock(n.Clock())
		}
	case callAlive, callSilent:
		if h.Peer != nil {
			h.Peer(x.peer, x.kind == callAlive)
		}
	case callBroadcast:
		h.Broadcast.invoke(x.effect)
	case callRestarted:
		if h.Restarted != nil {
			h.Restarted(x.boot)
		}
	}
}

func (n *Node) reportView(v *membership.View, fresh bool) {
	if v == n.reported.view && fresh == n.reported.fresh {
		return
	}
	n.reported.view, n.reported.fresh = v, fresh
	if h := n.handlers.View; h != nil {
		h(v, fresh)
	}
}

func (n *Node) reportLeader(leads bool, follows timed.NodeID) {
	if leads == n.reported.leads && follows == n.reported.follows {
		return
	}
	n.reported.leads, n.reported.follows = leads, follows
	if h := n.handlers.Leader; h != nil {
		h(leads, follows)
	}
}

// grant fulfills a request.
func (w *World) grant(x *request) {
	n := x.n
	if x.kind == requestFault {
		w.beginFault(x.fault)
		return
	}
	if !n.proc.Up || x.life != n.lives {
		return // it crashed in the meantime
	}
	switch {
	case x.kind == requestResign:
		w.resign(n)
	case n.stalledUntil > w.now: // it was stopped in the same turn
		y := *x
		n.after(0, func() { w.app.enqueue(y) })
	case !n.proc.Upset && w.readWaiting(n) && x.life == n.lives:
		w.sendMessage(n, x.to, x.payload)
	}
}

// sendMessage sends a bare packet that carries an application's message.
func (w *World) sendMessage(n *Node, to timed.NodeID, payload []byte) {
	if w.opt.Bare {
		w.sendBareMessage(n, to, payload)
		return
	}
	now := n.tick(w.now)
	out := n.proc.Stack.SendKeepalive(now, to, w.out[:0])
	w.payload, w.payloadTo = payload, to
	w.finishTurn(n, now, out)
	w.payload = nil
}

func (a *app) enqueue(x request) {
	if len(a.requests)-a.granted >= MaxRequests {
		panic(fmt.Sprintf("sim: more than %d requests in one turn", MaxRequests))
	}
	a.requests = append(a.requests, x)
}

// checkMutable panics while invariants run, which must not change the world.
func (w *World) checkMutable(what string) {
	if w.app.phase == checking {
		panic(misuse("sim: " + what + " from an invariant, which must not change the world"))
	}
}

// checkOutside panics if the world is already running.
func (w *World) checkOutside(what string) {
	if w.checkMutable(what); w.app.phase != outside {
		panic(misuse("sim: " + what + " from inside of the world: time passes by itself"))
	}
}

// submit queues a request. The turn under way grants it; outside of turns submit does.
func (w *World) submit(x request) {
	if w.failed != nil {
		return
	}
	w.app.enqueue(x)
	if w.app.phase == outside {
		w.guard(w.endEvent)
	}
}

// begin starts the application.
func (w *World) begin() { w.guard(w.beginApp) }

func (w *World) beginApp() {
	if w.opt.App != nil {
		w.app.App = w.opt.App(w)
	}
	for _, v := range w.app.Invariants {
		if v.Name == "" || v.Check == nil {
			panic(misuse("sim: an invariant needs a Name and a Check"))
		}
	}
	for _, n := range w.nodes {
		w.app.started(n)
	}
	w.endEvent()
}

// advance runs the world up to true time t. A panic, almost always the application's,
// ends the run as a violation.
func (w *World) advance(t int64) {
	if w.failed == nil {
		w.guard(func() { w.runUntil(t) })
	}
}

// clampDuration bounds a duration of the caller, so that no sum overflows.
func clampDuration(d time.Duration) time.Duration { return min(max(d, 0), fault.MaxDuration) }
