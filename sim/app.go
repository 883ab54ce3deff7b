package sim

import (
	"time"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// App is an application in one world: what runs on the nodes, and what it
// promises. Options.App makes one for every world, so that its variables are of
// that world alone: they are the disks of the nodes and the books of the test,
// and outlive crashes. The variables of Start are a process's memory.
//
// All of it runs in the goroutine that drives the world, one call at a time. For
// a seed to give the same run again it must depend on nothing but what the world
// tells: on no other clock, no other randomness, no order of a map.
//
// A panic ends the run with a [Violation] named "panic", which has the seed and
// the stack.
type App struct {
	// Start, if not nil, starts the application's process on a node, whenever
	// the node's process starts, and returns what it wants to hear of.
	Start func(*Node) Handlers
	// Invariants are checked after every event, besides the platform's promises.
	Invariants []Invariant
	// Says, if not nil, names a message in pictures and traces. A message without
	// a name is drawn as those are that only say that their sender lives.
	Says func(payload []byte) string
}

// Handlers are what a process wants to hear of. Each is called in the process's
// turn, after the platform's own state has changed. What it asks for there (a
// message, a resignation, a fault) happens at the end of the turn, in the order
// of asking, at the same instant of true time: no handler is called inside of
// another. Those that are nil are not called.
//
// A lease ends by the clock alone, whether or not its holder gets to run: that
// Leader or View says so may come late, by any time if the process was stopped.
// Before it acts, an application asks [Node.Leads] or [Node.View], which read the
// hardware clock.
type Handlers struct {
	// View says that a view was installed, or became up to date or stale. No two
	// calls in a row say the same; at the start there is none.
	View func(v *membership.View, upToDate bool)
	// Leader says that the node began or ended to lead, or that its vote is
	// bound to another leader, or to none (0). No two calls in a row say the
	// same; at the start the node does not lead and follows none.
	Leader func(leads bool, follows timed.NodeID)
	// Clock says that the node follows another timeline of group time.
	Clock func(clocksync.Reading)
	// Peer says that a node came alive, or is not heard any more.
	Peer func(id timed.NodeID, alive bool)
	// Deliver hands over a message.
	Deliver func(Message)
	// Broadcast is what the process hears of the atomic broadcast.
	Broadcast BroadcastHandlers
	// Restarted says that the platform gave up its incarnation, with all that
	// rested on it, because the machine slept or its clock is not to be trusted:
	// the process and its timers go on in a new one.
	Restarted func(previous timed.BootID)
	// Stop says that the process has crashed. It is for the books of the test:
	// what the process asks for from now on does not happen.
	Stop func()
}

// Message is what a process said to that of another node. It may be lost, late,
// out of order, and come several times; never does it come from an incarnation
// of the sender that the receiver has not accepted. It may have been meant for
// the process that ran there before.
type Message struct {
	From    timed.Incarnation // of the sender, when it said it
	Payload []byte            // shared with other receivers: not to be changed
	Delay   datagram.Delay    // how long it can have been on its way
}

// Invariant is a promise of an application. Check is called after every event, and
// sees all nodes at one instant of true time. Its error ends the run as a
// [Violation] of that name; an error that is a *Violation names check and node
// itself. Check panics if it tries to change the world.
type Invariant struct {
	Name  string
	Check func() error
}

// Limits of applications. Who exceeds one panics.
const (
	MaxPayload = 1 << 20 // bytes of a message
	MaxTimers  = 1 << 16 // running at once in a world
	MaxAsks    = 1 << 14 // messages and other requests of one turn

	// minTimer is the shortest time that a timer runs, so that a process whose
	// timer starts itself anew cannot keep true time from passing.
	minTimer = time.Microsecond
)

// app is what a world keeps for the application.
type app struct {
	App
	phase phase
	at    *Node // whose process is called, for the report of a panic

	news   []news // to be told
	told   int
	asks   []ask // to be done
	done   int
	timers []appTimer
	free   []int32
	lastID uint64 // of a timer
}

// phase says who may ask for what.
type phase uint8

const (
	outside  phase = iota // the test drives the world, or nobody does
	turning               // processes are told, and ask
	checking              // invariants look; nothing may change
)

// told is what a process was told last of what changes.
type told struct {
	view    *membership.View
	fresh   bool
	leads   bool
	follows timed.NodeID
}
