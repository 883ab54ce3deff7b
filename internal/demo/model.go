package demo

import (
	"math"
	"time"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/event"
)

// State is the state of a node.
type State uint8

// The states of a node.
const (
	Starting State = iota // it may not vote yet
	Up
	Paused
	Crashed
	Failed // it stopped by itself
)

func (s State) String() string {
	return [...]string{"starting", "up", "paused", "crashed", "failed"}[s]
}

// Model is the visible state at one moment. It is a value apart from the nodes, so that
// tests can compare its picture.
type Model struct {
	Elapsed    time.Duration
	Preset     string
	Timing     failaware.Timing
	Nodes      []NodeModel // node id at id − 1
	Partitions []Partition
	Rounds     uint64   // of checks
	Violations []string // of the invariants
	Log        []Entry
}

// NodeModel is the visible state of a node.
type NodeModel struct {
	ID       failaware.NodeID
	State    State
	For      time.Duration // in this state
	Leader   failaware.LeaderAnswer
	View     failaware.ViewAnswer
	StaleFor time.Duration
	Clock    failaware.Reading
	// Offset is the true distance of its clock from its leader's, if OffsetKnown.
	// It is visible only because the nodes share a process.
	Offset      time.Duration
	OffsetKnown bool
	Partition   int // index of Model.Partitions, or −1
	// Hears has the node's knowledge of each other node, at id − 1.
	Hears []Hearing
	Late  uint64 // timers that were served too late
}

// Hearing is a node's knowledge of another one, and the faults of the link from it.
type Hearing struct {
	Known bool
	Alive bool
	Fast  bool
	Bound time.Duration // of the delay of the last packet, or event.UnknownDelay
	Link  Link
}

// Partition is a logical partition: a leader and the nodes that are bound to it.
type Partition struct {
	Leader failaware.NodeID
	Nodes  failaware.Set
}

// logLines is the number of entries of the journal in a model.
const logLines = 96

// Look returns the present state.
func (w *World) Look() Model {
	m := Model{Elapsed: time.Since(w.began), Preset: w.preset, Timing: w.timing}
	m.Rounds, m.Violations = w.watch.result()
	m.Log, _ = w.journal.since(w.journal.next()-logLines, math.MaxInt64)
	for _, p := range w.places() {
		m.Nodes = append(m.Nodes, w.lookAt(p))
	}
	for i := range m.Nodes {
		w.compareClock(&m.Nodes[i])
	}
	m.group()
	return m
}

// lookAt returns the present state of one node.
func (w *World) lookAt(p place) NodeModel {
	n := NodeModel{ID: p.id, State: Crashed, For: time.Since(p.since), Partition: -1,
		Hears: make([]Hearing, len(w.members))}
	for i := range n.Hears {
		n.Hears[i].Bound = event.UnknownDelay
		if from := failaware.NodeID(i + 1); from != p.id {
			n.Hears[i].Link = w.relay.Link(from, p.id)
		}
	}
	n.Clock.Deviation = math.MaxInt64
	if p.life == nil {
		return n
	}
	node := p.life.node
	n.Leader, n.View, n.Clock = node.Leader(), node.View(), node.Clock()
	n.StaleFor = w.watch.staleFor(p.id)
	switch s := p.status; {
	case node.Err() != nil:
		n.State = Failed
	case p.paused:
		n.State = Paused
	case s != nil && s.Ready:
		n.State = Up
	default:
		n.State = Starting
	}
	if p.status == nil {
		return n
	}
	n.Late = p.status.Lateness.Late
	for _, peer := range p.status.Peers {
		if i := int(peer.ID) - 1; i >= 0 && i < len(n.Hears) {
			h := &n.Hears[i]
			h.Known, h.Alive, h.Fast, h.Bound = true, peer.Alive, peer.Fast, peer.Delay
		}
	}
	return n
}

// compareClock compares a node's clock with its leader's.
func (w *World) compareClock(n *NodeModel) {
	if !n.Leader.UpToDate || n.Clock.Timeline.Leader != n.Leader.Leader {
		return
	}
	own, lead := w.Node(n.ID), w.Node(n.Leader.Leader)
	if own == nil || lead == nil {
		return
	}
	before, at, after := lead.Clock(), own.Clock(), lead.Clock()
	if before.Timeline != at.Timeline || after.Timeline != at.Timeline {
		return
	}
	middle := before.Time + (after.Time-before.Time)/2
	n.Clock, n.Offset, n.OffsetKnown = at, at.Time.Sub(middle), true
}

// group finds the logical partitions: the nodes that are bound to one leader.
func (m *Model) group() {
	for i := range m.Nodes {
		lead := &m.Nodes[i]
		if !lead.Leader.Leads {
			continue
		}
		p := Partition{Leader: lead.ID}
		for j := range m.Nodes {
			n := &m.Nodes[j]
			if n.Leader.UpToDate && n.Leader.Leader == lead.ID && n.Leader.Boot == lead.Leader.Boot {
				p.Nodes.Add(n.ID)
				n.Partition = len(m.Partitions)
			}
		}
		m.Partitions = append(m.Partitions, p)
	}
}
