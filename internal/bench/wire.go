package bench

import (
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// Parent and child talk over the child's standard input and output, one JSON
// object a line: first a job, then commands down, and reports up. The end of
// its input ends a child, so none outlives its parent.

// job is the task of a child.
type job struct {
	Kind   jobKind
	ID     timed.NodeID
	Group  string
	Listen string
	Timing timed.Timing
	Peers  []address
	Key    string      `json:",omitempty"` // of the group; empty: packets are not sealed
	Floor  *floorSetup `json:",omitempty"`
	Cast   *castSetup  `json:",omitempty"` // of a node that broadcasts
	Flood  *floodSetup `json:",omitempty"` // of a node that broadcasts at saturation
	Pages  *pagesSetup `json:",omitempty"` // of a node with a replicated state
}

type jobKind string

const (
	bareJob jobKind = "bare" // stack, codec and socket: see bare
	nodeJob jobKind = "node" // a complete node

	floorJob jobKind = "floor" // a socket and nothing else: see floorChild
)

// address is the address of a node.
type address struct {
	ID   timed.NodeID
	Addr string
}

// command is a task for a child, which answers if Number is not zero.
type command struct {
	Number int
	Do     action
	Peers  []address `json:",omitempty"`
	Expect timed.Set // the nodes that should support the next leader
	Ports  []uint16  `json:",omitempty"`
	Millis int       `json:",omitempty"` // duration of sampling
	Micros int       `json:",omitempty"` // sampling interval
	Calls  int       `json:",omitempty"`
	Floor  *floorRun `json:",omitempty"`
	Cast   *castRun  `json:",omitempty"`
}

type action string

const (
	doPeers   action = "peers"
	doExpect  action = "expect"
	doCut     action = "cut" // drop packets from Ports; none: nothing
	doUsage   action = "usage"
	doClock   action = "clock" // sample the clock
	doCost    action = "cost"  // time calls of Now
	doFloor   action = "floor" // send and receive, from Floor.Begin on
	doCast    action = "cast"  // broadcast and receive, from Cast.Begin on
	doFlood   action = "flood" // broadcast until doStill
	doStill   action = "still"
	doSlow    action = "slow" // take Micros for each batch of deliveries
	doHistory action = "history"
	doLook    action = "look"
)

// report is a message of a child. Exactly one of its parts is set.
type report struct {
	Addr  string   `json:",omitempty"` // it listens
	State *state   `json:",omitempty"` // something changed
	Reply *reply   `json:",omitempty"` // to a command
	Fatal string   `json:",omitempty"` // the reason of its end
	_     struct{} // keyed only
}

// state is the answers of a node when the hardware clock showed At.
type state struct {
	At      timed.Instant
	Leader  timed.NodeID
	Held    bool // the answer is up to date
	Leads   bool
	Support timed.Set
	View    membership.ViewID
	Members timed.Set
	Fresh   bool
	Alive   timed.Set
}

// reply answers a command.
type reply struct {
	Number  int
	Err     string        `json:",omitempty"`
	At      timed.Instant // when the child began to carry it out
	Usage   *usage        `json:",omitempty"`
	Samples []sample      `json:",omitempty"`
	Cost    *Cost         `json:",omitempty"`
	Floor   *floorCount   `json:",omitempty"`
	Cast    *castCount    `json:",omitempty"`
	History *history      `json:",omitempty"`
	Pages   *pagesLook    `json:",omitempty"`
}
