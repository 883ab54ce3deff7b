package failaware

import (
	"context"
	"fmt"
	"time"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/clocksync/reference"
)

// Reference names an external reference of UTC: an NTP server, the kernel's
// disciplined clock, or a PTP hardware clock.
type Reference = reference.Config

// ReferenceStatus is what a node knows of an external reference.
type ReferenceStatus struct {
	// Status holds the statistics of a reference that this node asks. Of another
	// node's only Source is known.
	reference.Status
	// Node asks it.
	Node NodeID
	// Known tells that it has a sample that counts; the fields below say nothing
	// otherwise.
	Known bool
	// Offset is of the middle of its interval from this node's displayed clock, and
	// Bound half the width of the interval.
	Offset, Bound time.Duration
	Age           time.Duration // of the sample
	Leap          clocksync.Leap
	// Falseticker tells that it contradicts what is known of UTC.
	Falseticker bool
}

// checkReferences returns what is wrong with the references.
func (c *Config) checkReferences() (errs []error) {
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if len(c.References) > reference.MaxConfigs {
		bad("References: %d are more than %d", len(c.References), reference.MaxConfigs)
	}
	if c.Transport != nil && len(c.References) > 0 {
		bad("References: a node with a Transport cannot ask any")
	}
	names := map[string]int{}
	for i, r := range c.References {
		if err := r.Validate(); err != nil {
			bad("References[%d] (%s): %w", i, r.Name(), err)
		}
		if j, again := names[r.Name()]; again {
			bad("References[%d] (%s): References[%d] is the same", i, r.Name(), j)
		}
		names[r.Name()] = i
	}
	return errs
}

// askReferences asks each reference from a goroutine of its own, until the node
// stops.
func (n *Node) askReferences() {
	if len(n.asked) == 0 {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		<-n.done
		cancel()
	}()
	for _, p := range n.asked {
		go p.Run(ctx, func(s reference.Sample) {
			n.do(func(d *driver) { d.sampled(&s) })
		})
	}
}

// sampled hands a sample to the stack, unless the clock that it was measured
// with has slept since.
func (d *driver) sampled(s *reference.Sample) {
	if d.stack != nil && s.Epoch == d.epoch {
		d.perform(d.stack.HandleSample(d.now, &s.Sample, d.effects[:0]))
	}
}

// nameOf returns how a reference of this node is called, or "".
func (n *Node) nameOf(id clocksync.SourceID) string {
	for _, p := range n.asked {
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
	type answer struct {
		list  []clocksync.ReferenceInfo
		shown Time
	}
	result := make(chan answer, 1)
	var a answer
	if n.do(func(d *driver) {
		var now answer
		if d.stack != nil {
			now = answer{d.stack.Clock().References(d.now), d.stack.Clock().Read(d.now).Time}
		}
		result <- now
	}) {
		select {
		case a = <-result:
		case <-n.done:
		case <-time.After(statusWait):
		}
	}
	var out []ReferenceStatus
	own := map[clocksync.SourceID]bool{}
	for _, p := range n.asked {
		r := ReferenceStatus{Status: p.Status(), Node: n.cfg.ID}
		for i := range a.list {
			if a.list[i].Source == r.Source {
				own[r.Source] = true
				r.take(&a.list[i], a.shown)
			}
		}
		out = append(out, r)
	}
	for i := range a.list {
		if x := &a.list[i]; !own[x.Source] {
			r := ReferenceStatus{Status: reference.Status{Source: x.Source}, Node: x.Node}
			r.take(x, a.shown)
			out = append(out, r)
		}
	}
	return out
}

func (r *ReferenceStatus) take(x *clocksync.ReferenceInfo, shown Time) {
	r.Known, r.Age, r.Leap, r.Falseticker = true, x.Age, x.Leap, x.Liar
	r.Bound = x.High.Sub(x.Low)/2 + 1
	r.Offset = x.Low.Sub(shown) + r.Bound
}
