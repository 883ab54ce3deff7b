package sim

import (
	"time"

	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/sim/fault"
	"github.com/failaware/failaware/timed"
)

// Recording is what happened in a run, as a space-time diagram shows it. All
// times are true times since the start of the run; Never is one that did not
// come.
type Recording struct {
	Nodes int
	// From and To bound the time that was recorded. Only the marks of faults that
	// were under way at From are earlier.
	From, To time.Duration
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
	Arrived  time.Duration // Never: it is lost, or nobody is there any more
	Fast     bool          // its computed bound is within Δ; while it is on its way, its delay
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
	BarStale                  // it holds a view of Members that is not up to date
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
	View     membership.ViewID
	Label    string
}

// RecordedMark is something that happened at once.
type RecordedMark struct {
	Node  timed.NodeID // 0: to the world
	At    time.Duration
	Fault bool // it came from outside
	App   bool // the application finds it worth showing; else an event of the node
	Label string
}

type openBar struct {
	kind BarKind
	node timed.NodeID
}

// Record lets the world note what happens from now on, for a picture.
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

// finishRecord notes the packets that are still on their way at the end, and
// ends the bars that are still open. Where a promise was broken, leases, votes
// and views keep the end that was claimed for them then: it is what was wrong.
func (w *World) finishRecord() {
	if r := w.record; r != nil {
		r.To = w.Time()
		for i := range w.queue.heap {
			if e := &w.queue.heap[i]; e.kind() == deliver {
				f := w.slots[e.arg]
				w.recordMessage(f, e.node(), time.Duration(e.at-origin), e.at-f.sent <= int64(w.opt.Timing.FastThreshold))
			}
		}
		for k, i := range r.open {
			if w.check.failed == nil || r.Bars[i].To == Never {
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
	_, d := n.st.LastPacket()
	w.recordMessage(f, n.index, w.Time(), d.Fast)
}

// recordLoss notes a packet that the process with an index never gets.
func (w *World) recordLoss(f *flight, to int) { w.recordMessage(f, to, Never, false) }

func (w *World) recordMessage(f *flight, to int, arrived time.Duration, fast bool) {
	if f.from == nobody || w.record.full() {
		return
	}
	says := w.says(f)
	w.record.Messages = append(w.record.Messages, RecordedMessage{From: w.nodes[f.from].id, To: w.nodes[to].id,
		Sent: time.Duration(f.sent - origin), Arrived: arrived, Fast: fast,
		Bare: f.packet.Frames == 0 && (f.payload == nil || says == ""), Says: says})
}

func (w *World) recordFault(f *fault.Fault) {
	w.record.mark(RecordedMark{Node: f.Node, At: w.Time(), Fault: true, Label: f.Label()})
}

func (w *World) recordEvent(n *Node, e *stack.Event) {
	if e.Kind == stack.EventRestart || e.Kind == stack.EventDuplicateID || e.Kind == stack.EventClockFault {
		w.record.mark(RecordedMark{Node: n.id, At: w.Time(), Label: e.String()})
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
		n.w.record.mark(RecordedMark{Node: n.id, At: n.w.Time(), App: true, Label: label})
	}
}

// recordStall notes that a process does not get to run for some time.
func (w *World) recordStall(n *Node, why fault.Kind) {
	if w.record != nil && n.index < w.opt.Nodes {
		w.bar(n.up && n.stalledUntil > w.now, RecordedBar{Kind: BarStalled, Node: n.id,
			To: time.Duration(n.stalledUntil - origin), Label: string(why)})
	}
}

// recordEnd notes the end of a fault of the network. That of other faults shows
// in the bars.
func (w *World) recordEnd(f *fault.Fault) {
	if f.Kind.OfNetwork() {
		w.record.mark(RecordedMark{Node: f.Node, At: w.Time(), Fault: true, Label: string(f.Kind) + " ends"})
	}
}

// recordClaims brings the bars of a node up to date.
func (w *World) recordClaims(n *Node) {
	r := w.record
	if n.index >= w.opt.Nodes {
		return // a rival has no lane of its own
	}
	cl := &w.check.claims[n.index]
	w.bar(!n.up, RecordedBar{Kind: BarDown, Node: n.id, To: Never})
	if !n.up {
		r.end(openBar{BarStalled, n.id}, w.Time())
	}
	w.bar(n.up && cl.leading && cl.leadUntil > w.now, RecordedBar{Kind: BarLeads, Node: n.id, To: time.Duration(cl.leadUntil - origin),
		Leader: n.id, Members: cl.support, Label: cl.support.String()})
	w.bar(n.up && cl.lockedTo.Valid() && cl.lockTill > w.now, RecordedBar{Kind: BarVote, Node: n.id,
		To: time.Duration(cl.lockTill - origin), Leader: cl.lockedTo.Node})
	if cl.view == nil {
		r.end(openBar{BarView, n.id}, w.Time())
		r.end(openBar{BarStale, n.id}, w.Time())
		return
	}
	view := RecordedBar{Kind: BarView, Node: n.id, To: time.Duration(cl.viewUntil - origin), Leader: cl.view.ID.Leader,
		Members: cl.view.Set, View: cl.view.ID, Label: viewLabel(cl)}
	fresh := cl.viewUntil > w.now
	w.bar(n.up && fresh, view)
	view.Kind, view.To = BarStale, Never
	w.bar(n.up && !fresh, view)
}

func viewLabel(cl *claims) string {
	return "v" + uintText(cl.view.ID.Sequence) + " " + cl.view.Set.String()
}

// bar begins, goes on with, or ends a bar. One that is not renewed ends at its
// time.
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
