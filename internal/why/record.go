// Package why explains the present state of a node from a bounded record of its
// events: what happened last to a peer, to the lead, to the view or to the clock,
// which earlier event was the cause, and which rule made it so.
package why

import (
	"slices"
	"sort"
	"sync"
	"time"

	"github.com/failaware/failaware/event"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// maxCauses is how many causes are kept for each subject. Events of one subject never
// push out those of another one, however often a link fails.
const maxCauses = 16

// Subject is what a record explains: one of the constants, or a node ([Node]).
type Subject struct {
	topic topic
	node  timed.NodeID
}

type topic uint8

const (
	ofLeader topic = iota
	ofView
	ofClock
	ofNode
)

// The subjects that every node has.
var (
	Leader = Subject{topic: ofLeader}
	View   = Subject{topic: ofView}
	Clock  = Subject{topic: ofClock}
)

// Node is the subject of everything that a node knows of a peer.
func Node(id timed.NodeID) Subject { return Subject{ofNode, id} }

// Cause is an event, what led to it, and the rule.
type Cause struct {
	Event event.Event
	// Because are the earlier events that led to it, the latest first.
	Because []event.Event
	// Rule is the rule of the protocol by which the event followed, with the settings
	// of this node; "" if the event says everything.
	Rule string
}

// Record keeps the latest causes of each subject. It may be used by several goroutines.
type Record struct {
	timing timed.Timing
	window time.Duration // how long ago an event may be that led to another one

	mu     sync.Mutex
	causes map[Subject][]Cause // the oldest first
	view   *membership.View    // installed last
}

// NewRecord returns an empty record of a node with a timing and its bounds.
func NewRecord(t timed.Timing, b timed.Bounds) *Record {
	return &Record{timing: t, window: b.Notice + b.Depose, causes: map[Subject][]Cause{}}
}

// Note adds an event.
func (r *Record) Note(e event.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if silent, ok := e.(event.PeerSilent); ok {
		r.blameLate(silent)
	}
	c := Cause{Event: e, Because: r.because(e), Rule: rule(e, &r.timing)}
	for _, s := range r.subjects(e) {
		list := r.causes[s]
		if len(list) == maxCauses {
			list = slices.Delete(list, 0, 1)
		}
		r.causes[s] = append(list, c)
	}
	if v, ok := e.(event.ViewInstalled); ok {
		r.view = v.View
	}
}

// Explain returns the causes of a subject's state, the latest first.
func (r *Record) Explain(s Subject) []Cause {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := slices.Clone(r.causes[s])
	slices.Reverse(list)
	return list
}

// blameLate adds a peer's silence to what it led to before it was noticed: a lease can
// end for lack of a reply while the peer still counts as alive.
func (r *Record) blameLate(silent event.PeerSilent) {
	began := silent.Time.Add(-silent.SilentFor)
	for _, s := range []Subject{Leader, View} {
		list := r.causes[s]
		for i := len(list) - 1; i >= 0 && list[i].Event.Head().Time.After(began); i-- {
			if c := &list[i]; expired(c.Event) && r.blamed(c.Event).Has(silent.Peer) {
				c.Because = append([]event.Event{silent}, c.Because...)
			}
		}
	}
}

// because returns the events that led to an event: the last ones about the nodes
// that it may follow from, if they are recent.
func (r *Record) because(e event.Event) (list []event.Event) {
	for id := range r.blamed(e).All() {
		if c := r.latest(id, e); c != nil {
			list = append(list, c)
		}
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Head().Sequence > list[j].Head().Sequence })
	return list
}

// latest returns the last event about a peer that can have led to e, or nil.
func (r *Record) latest(id timed.NodeID, e event.Event) event.Event {
	_, installed := e.(event.ViewInstalled)
	for _, c := range slices.Backward(r.causes[Node(id)]) {
		if e.Head().Time.Sub(c.Event.Head().Time) > r.window {
			return nil
		}
		switch c.Event.(type) {
		case event.PeerSilent, event.PeerRestarted, event.PeerLeaving, event.PeerCloned, event.ClockFault, event.Mismatch:
			return c.Event
		case event.PeerAlive:
			if installed {
				return c.Event
			}
			return nil // it came back before e
		}
	}
	return nil
}
