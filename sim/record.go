package sim

import (
	"fmt"
	"math"
	"time"

	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/sim/fault"
	"github.com/failaware/failaware/timed"
)

// Recording has the events of a run that a space-time diagram shows. All times are true
// times since the start of the run; Never is a time that does not come.
type Recording struct {
	Nodes int
	// From and To bound the time that was recorded. Only the marks of faults that
	// were under way at From are earlier.
	From, To time.Duration
	Messages []RecordedMessage
	Bars     []RecordedBar
	Marks    []RecordedMark
	// Truncated is true if MaxRecorded was reached, and the rest is missing.
	Truncated bool

	open map[openBar]int // index of a bar that has not ended
}

// Never is later than every run.
const Never = time.Duration(math.MaxInt64)

// MaxRecorded is the largest number each of messages, bars and marks in a recording.
const MaxRecorded = 1 << 20

// RecordedMessage is one packet.
type RecordedMessage struct {
	From, To timed.NodeID
	Sent     time.Duration
	Arrived  time.Duration // Never: it was lost, or its receiver ended
	Fast     bool          // the bound on its delay is within Δ; in flight, the delay itself
	Bare     bool          // it is a keepalive
	Says     string        // its contents, as text
}

// BarKind is the kind of state that a bar shows.
type BarKind uint8

// The kinds of bars.
const (
	BarLeads   BarKind = iota // the node leads; Leader is itself, Members its support
	BarVote                   // its vote is bound to Leader
	BarView                   // it holds an up-to-date view of Members
	BarStale                  // it holds a view of Members that is not up to date
	BarDown                   // its process does not run
	BarStalled                // its process does not get to run
)

// RecordedBar is a state that lasted for some time.
type RecordedBar struct {
	Kind     BarKind
	Node     timed.NodeID
	From, To time.Duration
	Leader   timed.NodeID
	Members  timed.Set
	View     membership.ViewID
	Label    string
}

// RecordedMark is an event at one instant.
type RecordedMark struct {
	Node  timed.NodeID // 0: to the world
	At    time.Duration
	Fault bool // a fault, otherwise an event of the node
	Label string
}

type openBar struct {
	kind BarKind
	node timed.NodeID
}

// Record starts the recording of events, for a picture, and returns the recording.
func (w *World) Record() *Recording {
	if w.record == nil {
		w.record = &Recording{Nodes: w.opt.Nodes, From: w.Time(), To: Never, open: map[openBar]int{}}
		for _, n := range w.nodes {
			w.recordClaims(n)
			w.recordStall(n, "")
		}
		for _, i := range w.running {
			f := &w.faults[i]
			w.record.mark(RecordedMark{Node: f.Node, At: f.At, Fault: true, Label: f.Label()})
		}
	}
	return w.record
}

// finishRecord records the packets in flight, and ends the open bars. If a promise was
// broken, leases, votes and views keep the end that their nodes claimed, so that the
// picture shows the error.
func (w *World) finishRecord() {
	if r := w.record; r != nil {
		r.To = w.Time()
		for i := range w.queue.heap {
			if e := &w.queue.heap[i]; e.kind() == eventDeliver {
				f := w.slots[e.arg]
				w.recordMessage(f, e.node(), time.Duration(e.at-origin), e.at-f.sent <= int64(w.opt.Timing.FastThreshold))
			}
		}
		for k, i := range r.open {
			if w.failed == nil || r.Bars[i].To == Never {
				r.end(k, r.To)
			}
		}
	}
}

func (r *Recording) full() bool {
	r.Truncated = r.Truncated || len(r.Messages) >= MaxRecorded || len(r.Bars) >= MaxRecorded || len(r.Marks) >= MaxRecorded
	return r.Truncated
}

func (w *World) recordArrival(n *Node, f *flight) {
	if w.record != nil {
		_, d := n.proc.Stack.LastPacket()
		w.recordMessage(f, n.proc.Index, w.Time(), d.Fast)
	}
}

// recordLoss records a packet that the process with an index never receives.
func (w *World) recordLoss(f *flight, to int) { w.recordMessage(f, to, Never, false) }

func (w *World) recordMessage(f *flight, to int, arrived time.Duration, fast bool) {
	if w.record == nil || f.from == nobody || w.record.full() {
		return
	}
	says := w.describe(f)
	w.record.Messages = append(w.record.Messages, RecordedMessage{From: w.nodes[f.from].proc.ID, To: w.nodes[to].proc.ID,
		Sent: time.Duration(f.sent - origin), Arrived: arrived, Fast: fast,
		Bare: f.packet.Frames == 0 && (f.payload == nil || says == ""), Says: says})
}

func (w *World) recordFault(f *fault.Fault) {
	if w.record != nil {
		w.record.mark(RecordedMark{Node: f.Node, At: w.Time(), Fault: true, Label: f.Label()})
	}
}

func (w *World) recordEvent(n *Node, e *stack.Event) {
	if w.record == nil {
		return
	}
	switch e.Kind {
	case stack.EventRestart, stack.EventInconsistent, stack.EventDuplicateID, stack.EventClockFault:
		w.record.mark(RecordedMark{Node: n.proc.ID, At: w.Time(), Label: e.String()})
	}
}

func (r *Recording) mark(m RecordedMark) {
	if !r.full() {
		r.Marks = append(r.Marks, m)
	}
}

// recordStall records that a process is stopped for some time, or runs again.
func (w *World) recordStall(n *Node, why fault.Kind) {
	if w.record != nil && n.proc.Index < w.opt.Nodes {
		w.bar(n.proc.Up && n.stalledUntil > w.now, RecordedBar{Kind: BarStalled, Node: n.proc.ID,
			To: time.Duration(n.stalledUntil - origin), Label: string(why)})
	}
}

// recordEnd records the end of a network fault. The bars show the ends of other faults.
func (w *World) recordEnd(f *fault.Fault) {
	if w.record != nil && f.Kind.OfNetwork() {
		w.record.mark(RecordedMark{Node: f.Node, At: w.Time(), Fault: true, Label: string(f.Kind) + " ends"})
	}
}

// recordClaims brings the bars of a node up to date.
func (w *World) recordClaims(n *Node) {
	r := w.record
	if r == nil || n.proc.Index >= w.opt.Nodes {
		return // a rival has no lane of its own
	}
	cl := &w.check.Claims[n.proc.Index]
	w.bar(!n.proc.Up, RecordedBar{Kind: BarDown, Node: n.proc.ID, To: Never})
	if !n.proc.Up {
		r.end(openBar{BarStalled, n.proc.ID}, w.Time())
	}
	w.bar(n.proc.Up && cl.Leading && cl.LeadUntil > w.now, RecordedBar{Kind: BarLeads, Node: n.proc.ID, To: time.Duration(cl.LeadUntil - origin),
		Leader: n.proc.ID, Members: cl.Support, Label: cl.Support.String()})
	w.bar(n.proc.Up && cl.LockedTo.Valid() && cl.LockUntil > w.now, RecordedBar{Kind: BarVote, Node: n.proc.ID,
		To: time.Duration(cl.LockUntil - origin), Leader: cl.LockedTo.Node})
	if cl.View == nil {
		r.end(openBar{BarView, n.proc.ID}, w.Time())
		r.end(openBar{BarStale, n.proc.ID}, w.Time())
		return
	}
	view := RecordedBar{Kind: BarView, Node: n.proc.ID, To: time.Duration(cl.ViewUntil - origin), Leader: cl.View.ID.Leader,
		Members: cl.View.Set, View: cl.View.ID, Label: fmt.Sprintf("v%d %v", cl.View.ID.Sequence, cl.View.Set)}
	fresh := cl.ViewUntil > w.now
	w.bar(n.proc.Up && fresh, view)
	view.Kind, view.To = BarStale, Never
	w.bar(n.proc.Up && !fresh, view)
}

// bar begins, extends or ends a bar. A bar that is not extended ends at its time.
func (w *World) bar(on bool, b RecordedBar) {
	r, k, now := w.record, openBar{b.Kind, b.Node}, w.Time()
	b.From = now
	if i, open := r.open[k]; open {
		old := &r.Bars[i]
		if on && old.To >= now && old.Leader == b.Leader && old.Members == b.Members && old.Label == b.Label && old.View == b.View {
			old.To = b.To
			return
		}
		r.end(k, now)
	}
	if on && !r.full() {
		r.open[k] = len(r.Bars)
		r.Bars = append(r.Bars, b)
	}
}

func (r *Recording) end(k openBar, now time.Duration) {
	if i, ok := r.open[k]; ok {
		r.Bars[i].To = min(r.Bars[i].To, now)
		delete(r.open, k)
	}
}
