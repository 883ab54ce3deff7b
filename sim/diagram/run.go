package diagram

import "time"

// A Run is the nodes and, in any order, their actions. Times
// count from any origin, but the same one everywhere. Nodes are named by their
// index in Nodes.
type Run struct {
	// Title is the headline, such as "seed 17". Subtitle, in smaller type below
	// it, has room for the options of the run.
	Title, Subtitle string
	// Nodes holds the name of each node, from the top lane to the bottom: one
	// to MaxNodes of them.
	Nodes []string
	// IDs, unless empty, has an id for each node, shown in small type below its name.
	IDs []string
	// From and To bound the run; Options can choose a part of it.
	From, To time.Duration

	Messages []Message
	Bars     []Bar
	Marks    []Mark
}

// Fate is the outcome of a message.
type Fate int

// The fates of messages.
const (
	Fast Fate = iota
	Slow
	Lost
)

var fateNames = [...]string{"fast", "slow", "lost"}

// String returns the name of the fate.
func (f Fate) String() string { return nameOf(fateNames[:], int(f)) }

// A Message goes from one node to another one.
type Message struct {
	From, To int
	Sent     time.Duration
	// Arrived is when a lost message would have arrived; for those it may be
	// zero, and is then taken as typical of the others.
	Arrived time.Duration
	Fate    Fate
	// Keepalive marks a message that only says that its sender is alive. They
	// are paler, Options can hide them, and they are the first to be thinned.
	Keepalive bool
	Label     string
}

// BarKind is the meaning of a Bar.
type BarKind int

// The kinds of bars.
const (
	Lead    BarKind = iota // the node leads; Group is the leader
	Lock                   // the node's vote is bound; Group is the leader it is bound to
	View                   // the node's view is up to date; Group is the view
	Stale                  // the node's view is not up to date; Group is the view
	Down                   // the node does not run
	Stalled                // the node runs but does not act
)

var barNames = [...]string{"lead", "lock", "view", "stale", "down", "stalled"}

// String returns the name of the kind.
func (k BarKind) String() string { return nameOf(barNames[:], int(k)) }

// A Bar is a state of one node over some time.
type Bar struct {
	Node     int
	From, To time.Duration
	Kind     BarKind
	// Group is the key of the colour. Bars of kinds Lead and Lock share one
	// set of groups, those of View and Stale another; Down and Stalled have none.
	Group int
	// Label is drawn if it fits. Down and Stalled have labels of their own
	// unless one is given.
	Label string
}

// MarkKind is the meaning of a Mark.
type MarkKind int

// The kinds of marks.
const (
	Fault     MarkKind = iota // something was done to the node or the network
	Event                     // the node noticed or decided something
	Violation                 // a promise was broken
	App                       // the application says something, such as a delivery
)

var markNames = [...]string{"fault", "event", "violation", "app"}

// String returns the name of the kind.
func (k MarkKind) String() string { return nameOf(markNames[:], int(k)) }

// All, as the node of a Mark, stands for the whole group.
const All = -1

// A Mark is an event at one instant, of one node or of All.
type Mark struct {
	Node  int
	At    time.Duration
	Kind  MarkKind
	Label string
}

func nameOf(names []string, i int) string {
	if i < 0 || i >= len(names) {
		return "unknown"
	}
	return names[i]
}
