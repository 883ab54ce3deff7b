package main

import (
	"time"

	"golang.org/x/sys/unix"
)

// Parent and children talk over a child's standard input and output, one JSON object a
// line: a job, then commands down, and reports up. The end of its input ends a child.

// job makes a child process a member of a group, or a client of the member in its place.
type job struct {
	System string
	Tight  bool // the tightest settings instead of the defaults
	Use    use
	ID     int      // from 1 on
	Hosts  []string // addresses of all nodes, without ports
	Dir    string   // of this node
}

// use is what a group is for.
type use string

const (
	forLeading  use = "leading"
	forMessages use = "messages"
	forStoring  use = "storing"
)

// command is a task for a child, which answers each.
type command struct {
	Number int
	Do     action
	Run    *run `json:",omitempty"`
}

type action string

const (
	doCampaign action = "campaign" // want to lead, and note the own answers
	doBeliefs  action = "beliefs"  // return them
	doMessages action = "messages"
	doStore    action = "store"
)

// run is a load in which all children take part. Instants are readings of [now].
type run struct {
	Number               uint32 // marks the messages of this run
	Sender               int
	Size                 int // in bytes
	Rate                 float64
	Flavour              string
	Callers              int
	Begin, Measured, End int64
}

// report is what a child says: a view, or the answer to a command.
type report struct {
	View    *view   `json:",omitempty"`
	Number  int     `json:",omitempty"`
	Err     string  `json:",omitempty"`
	Count   *count  `json:",omitempty"`
	Beliefs []spell `json:",omitempty"`
	Fatal   string  `json:",omitempty"`
}

// view is what a node knows at an instant.
type view struct {
	At      int64
	Leader  int   // 0: none
	Members []int // nil: the system has no views of members
}

// spell is a time in which a node said at every question that it leads.
type spell struct {
	From, To int64
	Answers  int
}

// count is a child's part of a run.
type count struct {
	Messages uint64          // that its application had, or operations acknowledged
	Took     time.Duration   // for that
	Waits    []time.Duration // of acknowledged operations
	Failed   int             // operations
	Why      string          // the last of them did
	Traces   []trace
}

// trace is the way of one message to one application.
type trace struct {
	Number    uint32
	Sent, Had int64
}

// now reads the clock that all processes of the machine share.
func now() int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		panic(err) // every Linux has it
	}
	return t.Nano()
}

// until sleeps until an instant.
func until(at int64) { time.Sleep(time.Duration(at - now())) }
