package failaware

import (
	"context"
	"time"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/clocksync/reference"
)

// ReferenceStatus is what a node knows of an external reference.
type ReferenceStatus struct {
	// Status holds the statistics of a reference that this node asks. Of another node's
	// reference only Source is known.
	reference.Status
	// Node asks it.
	Node NodeID
	// Known says that it has a sample that counts; otherwise the fields below say
	// nothing.
	Known bool
	// Offset is of the middle of its interval from this node's displayed clock, and
	// Bound half the width of the interval.
	Offset, Bound time.Duration
	Age           time.Duration // of the sample
	Leap          clocksync.Leap
	// Falseticker says that it contradicts what is known of UTC.
	Falseticker bool
}

// askReferences asks each reference from a goroutine of its own, until the node
// stops.
func (n *Node) askReferences() {
	if len(n.pollers) == 0 {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		<-n.done
		cancel()
	}()
	for _, p := range n.pollers {
		go p.Run(ctx, func(s reference.Sample) { n.loop.HandleSample(s.Sample, s.Era) })
	}
}

// nameOf returns the name of a reference of this node, or "".
func (n *Node) nameOf(id clocksync.SourceID) string {
	for _, p := range n.pollers {
		if st := p.Status(); st.Source == id {
			return st.Name
		}
	}
	return ""
}

// References returns what is known of all external references: first those that
// this node asks, in the order of its configuration, and then those of other nodes
// that it knows as their leader. It waits for the loop as [Node.Status] does. It is
// safe for concurrent use.
func (n *Node) References() []ReferenceStatus {
	known, shown := n.loop.References()
	var out []ReferenceStatus
	own := map[clocksync.SourceID]bool{}
	for _, p := range n.pollers {
		r := ReferenceStatus{Status: p.Status(), Node: n.cfg.ID}
		for i := range known {
			if known[i].Source == r.Source {
				own[r.Source] = true
				r.take(&known[i], shown)
			}
		}
		out = append(out, r)
	}
	for i := range known {
		if x := &known[i]; !own[x.Source] {
			r := ReferenceStatus{Status: reference.Status{Source: x.Source}, Node: x.Node}
			r.take(x, shown)
			out = append(out, r)
		}
	}
	return out
}

// take fills in what the clock knows of the reference, as it showed a time.
func (r *ReferenceStatus) take(x *clocksync.ReferenceInfo, shown Time) {
	r.Known, r.Age, r.Leap, r.Falseticker = true, x.Age, x.Leap, x.Falseticker
	r.Bound = x.High.Sub(x.Low)/2 + 1
	r.Offset = x.Low.Sub(shown) + r.Bound
}
