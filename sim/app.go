package sim

import (
	"time"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// App is an application in one world: its processes on the nodes, and its promises.
// Options.App makes one for every world, so that worlds share no variables. Its
// variables outlive crashes: they are the disks of the nodes and the records of the
// test. The variables of Start are a process's memory.
//
// All of it runs in the goroutine that drives the world, one call at a time. A seed
// gives the same run again only if the application uses no other clock and no other
// source of randomness, and does not depend on the order of a map.
//
// A panic ends the run with a [Violation] named "panic", which has the seed and
// the application's part of the stack. So does a call that ends the goroutine, as t.FailNow
// does.
type App struct {
	// Start, if not nil, starts the application's process on a node, whenever
	// the node's process starts, and returns its handlers.
	Start func(*Node) Handlers
	// Invariants are checked after every event, besides the platform's promises.
	Invariants []Invariant
	// MayReplace, if not nil, says whether the administrator of a world with Epochs may
	// replace the quorum system now, at a global leader.
	MayReplace func(*Node, quorum.System) bool
	// MayForce, if not nil, lets the administrator of a world with Epochs force a change at
	// a node, once, while the running members are no quorum. Forced is then called with the
	// epoch and the members declared dead in it. They start again when all others are in the
	// next epoch, those in wiped without their state directories.
	MayForce func(*Node) bool
	Forced   func(epoch uint64, dead, wiped timed.Set)
	// Says, if not nil, names a message in pictures and traces. A message without a name
	// is drawn like a keepalive.
	Says func(payload []byte) string
}

// Handlers are the callbacks of a process; any may be nil. Each is called in the
// process's turn, after the platform's own state has changed. Requests from a handler
// (a message, a resignation, a fault) take effect at the end of the turn, in their
// order, at the same instant of true time: no handler runs inside another.
//
// A lease ends by the clock alone, even while its holder does not run: the call of
// Leader or View may come late, by any time if the process was stopped. An application
// asks [Node.Leads] or [Node.View], which read the hardware clock, before it acts.
type Handlers struct {
	// View is called when a view is installed, or becomes up to date or stale. No two
	// calls in a row have the same arguments; at the start there is no view.
	View func(v *membership.View, upToDate bool)
	// Leader is called when the node begins or ends to lead, or when its vote is
	// bound to another leader, or to none (0). No two calls in a row have the same
	// arguments; at the start the node does not lead and follows none.
	Leader func(leads bool, follows timed.NodeID)
	// Clock is called when the node follows another timeline of group time.
	Clock func(clocksync.Reading)
	// Peer is called when a node becomes alive, and when it is not heard any more.
	Peer func(id timed.NodeID, alive bool)
	// Deliver hands over a message.
	Deliver func(Message)
	// Broadcast has the handlers for the atomic broadcast.
	Broadcast BroadcastHandlers
	// Restarted is called when the platform has replaced its incarnation, because the
	// machine slept or its clock cannot be trusted. Leads, votes and views of the previous
	// incarnation have ended. The process and its timers continue.
	Restarted func(previous timed.BootID)
	// Stop is called when the process has crashed, for the records of the test.
	// Requests of the process have no effect any more.
	Stop func()
}

// Message is a message from the process of another node. It may be lost, late, out of
// order, or delivered several times. It never comes from an incarnation that the receiver
// has not accepted. The sender may have sent it to an earlier process of the node.
type Message struct {
	From    timed.Incarnation // of the sender, when it sent the message
	Payload []byte            // shared with other receivers, which must not change it
	Delay   datagram.Delay    // the bound of its delay
}

// Invariant is a promise of an application. Check is called after every event, and
// sees all nodes at one instant of true time. Its error ends the run as a
// [Violation] of that name; an error that is a *Violation names check and node
// itself. Check panics if it tries to change the world.
type Invariant struct {
	Name  string
	Check func() error
}

// Limits of applications. An application that exceeds one panics.
const (
	MaxPayload  = 1 << 20 // bytes of a message
	MaxTimers   = 1 << 16 // running at once in a world
	MaxRequests = 1 << 14 // messages and other requests of one turn

	// minTimer is the shortest time that a timer runs, so that a process whose
	// timer starts itself anew cannot keep true time from passing.
	minTimer = time.Microsecond
)

// app is the state of a world for its application.
type app struct {
	App
	phase phase
	at    *Node // the node whose process is being called, for the report of a panic

	calls    []call // to be told
	called   int
	requests []request // to be done
	granted  int
	timers   []appTimer
	free     []int32
	lastID   uint64 // of a timer
}

// phase determines the requests that are allowed.
type phase uint8

const (
	outside  phase = iota // the test may drive the world
	turning               // handlers run, and make requests
	checking              // invariants run; nothing may change
)

// reported has the last arguments of the handlers View and Leader.
type reported struct {
	view    *membership.View
	fresh   bool
	leads   bool
	follows timed.NodeID
}
