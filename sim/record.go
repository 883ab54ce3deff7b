package sim

import (
	"time"

	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/timed"
)

// Recording is what happened in a run, as a space-time diagram shows it. All
// times are true times since the start of the run; Never is one that did not
// come.
type Recording struct {
	Nodes    int
	Messages []RecordedMessage
	Bars     []RecordedBar
	Marks    []RecordedMark
	// Truncated tells that MaxRecorded was reached, and the rest is missing.
	Truncated bool

	open map[openBar]int // index of a bar that has not ended
}

// Never is later than every run.
const Never = time.Duration(1<<63 - 1)

// MaxRecorded is how many messages, bars and marks one recording holds.
const MaxRecorded = 1 << 20

// RecordedMessage is one packet.
type RecordedMessage struct {
	From, To timed.NodeID
	Sent     time.Duration
	Arrived  time.Duration // Never: lost, or still on its way
	Fast     bool          // its computed bound is within Δ
	Bare     bool          // it says nothing but that the sender lives
	Says     string
}

// BarKind is what a bar shows.
type BarKind uint8

// The kinds of bars.
const (
	BarLeads   BarKind = iota // the node leads; Leader is itself, Members its support
	BarVote                   // its vote is bound to Leader
	BarView                   // it holds an up-to-date view of Members
	BarDown                   // its process does not run
	BarStalled                // its process does not get to run
)

// RecordedBar is something that was so for some time.
type RecordedBar struct {
	Kind     BarKind
	Node     timed.NodeID
	From, To time.Duration
	Leader   timed.NodeID
	Members  timed.Set
	Label    string
}

// RecordedMark is something that happened at once.
type RecordedMark struct {
	Node  timed.NodeID // 0: to the world
	At    time.Duration
	Fault bool // else an event of the node
	Label string
}

type openBar struct {
	kind BarKind
	node timed.NodeID
}

// Record lets the world note what happens from now on, for a picture.
func (w *World) Record() *Recording {
	if w.record == nil {
		w.record = &Recording{Nodes: w.opt.Nodes, open: map[openBar]int{}}
		for _, n := range w.nodes {
			w.recordClaims(n)
		}
	}
	return w.record
}

// Finish ends the bars that are still open at the end of a run.
func (w *World) finishRecord() {
	if r := w.record; r != nil {
		for k := range r.open {
			r.end(k, w.Time())
		}
	}
}

func (r *Recording) full() bool {
	r.Truncated = r.Truncated || len(r.Messages) >= MaxRecorded || len(r.Bars) >= MaxRecorded || len(r.Marks) >= MaxRecorded
	return r.Truncated
}

func (w *World) recordArrival(n *Node, f *flight) {
	d, _ := n.st.LastPacket()
	if f.from == nobody || w.record.full() {
		return
	}
	w.record.Messages = append(w.record.Messages, RecordedMessage{From: w.nodes[f.from].id, To: n.id,
		Sent: time.Duration(f.sent - origin), Arrived: w.Time(), Fast: d.Fast,
		Bare: f.packet.Frames == 0 && f.payload == nil, Says: f.says()})
}

func (w *World) recordLoss(f *flight, to int) {
	if w.record.full() {
		return
	}
	w.record.Messages = append(w.record.Messages, RecordedMessage{From: w.nodes[f.from].id, To: w.nodes[to].id,
		Sent: time.Duration(f.sent - origin), Arrived: Never,
		Bare: f.packet.Frames == 0 && f.payload == nil, Says: f.says()})
}

func (w *World) recordFault(f *Fault) {
	w.record.mark(RecordedMark{Node: f.Node, At: w.Time(), Fault: true, Label: f.Label()})
}

func (w *World) recordEvent(n *Node, e *stack.Event) {
	if e.Kind == stack.EventRestart || e.Kind == stack.EventDuplicateID || e.Kind == stack.EventClockFault {
		w.record.mark(RecordedMark{Node: n.id, At: w.Time(), Label: eventText(n, e)})
	}
}

func (r *Recording) mark(m RecordedMark) {
	if !r.full() {
		r.Marks = append(r.Marks, m)
	}
}

// Mark notes something that an application finds worth showing.
func (n *Node) Mark(label string) {
	if n.w.record != nil {
		n.w.record.mark(RecordedMark{Node: n.id, At: n.w.Time(), Label: label})
	}
}

// recordDown notes that a process does not get to run for some time.
func (w *World) recordDown(n *Node, f *Fault) {
	if w.record != nil && !w.record.full() && f.For > 0 {
		w.record.Bars = append(w.record.Bars, RecordedBar{Kind: BarStalled, Node: n.id, From: w.Time(),
			To: w.Time() + f.For, Label: string(f.Kind)})
	}
}

// recordClaims brings the bars of a node up to date.
func (w *World) recordClaims(n *Node) {
	r := w.record
	if n.index >= w.opt.Nodes {
		return // a rival has no lane of its own
	}
	cl := &w.check.claims[n.index]
	w.bar(BarDown, n, !n.up, timed.NoNode, timed.Set{}, Never, "")
	w.bar(BarLeads, n, n.up && cl.leading && cl.leadUntil > w.now, n.id, cl.support, time.Duration(cl.leadUntil-origin), cl.support.String())
	w.bar(BarVote, n, n.up && cl.lockedTo.Valid() && cl.lockTill > w.now, cl.lockedTo.Node, timed.Set{}, time.Duration(cl.lockTill-origin), "")
	if cl.view != nil {
		w.bar(BarView, n, n.up && cl.viewUntil > w.now, cl.view.ID.Leader, cl.view.Set, time.Duration(cl.viewUntil-origin), viewLabel(cl))
	} else {
		r.end(openBar{BarView, n.id}, w.Time())
	}
}

func viewLabel(cl *claims) string {
	return "v" + uintText(cl.view.ID.Sequence) + " " + cl.view.Set.String()
}

// bar begins, goes on with, or ends a bar. One that is not renewed ends at its
// time.
func (w *World) bar(kind BarKind, n *Node, on bool, leader timed.NodeID, members timed.Set, until time.Duration, label string) {
	r, k, now := w.record, openBar{kind, n.id}, w.Time()
	i, open := r.open[k]
	if open {
		b := &r.Bars[i]
		if on && b.To >= now && b.Leader == leader && b.Members == members && b.Label == label {
			b.To = until
			return
		}
		r.end(k, now)
	}
	if on && !r.full() {
		r.open[k] = len(r.Bars)
		r.Bars = append(r.Bars, RecordedBar{Kind: kind, Node: n.id, From: now, To: until, Leader: leader, Members: members, Label: label})
	}
}

func (r *Recording) end(k openBar, now time.Duration) {
	if i, ok := r.open[k]; ok {
		r.Bars[i].To = min(r.Bars[i].To, now)
		delete(r.open, k)
	}
}
