package store

import (
	"fmt"
	"maps"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/failaware/failaware/replicate"
)

// Counts says what a store has done since its start, and what it holds.
type Counts struct {
	Accepting                      bool // operations are taken, the view is up to date, and neither a disk nor a member of the view holds them up
	Behind                         int  // operations that are delivered and not applied yet
	Keys, Bytes, Leases, Conflicts int
	Applied                        uint64            // operations, of all nodes
	Submitted, Failed              uint64            // by this node: with a result, and without
	Events                         map[string]uint64 // by the names of their types in package replicate, as in "startedover", and lossy; all are there
}

// events has one of each kind.
var events = []replicate.Event{replicate.AwaitsMemory{}, replicate.AwaitsReports{}, replicate.Begun{}, replicate.Corrupt{}, replicate.Differs{}, replicate.Discarded{},
	replicate.Disk{}, replicate.Diverged{}, replicate.Hanging{}, replicate.Merged{}, replicate.Receiving{}, replicate.Recovered{}, replicate.Refused{},
	replicate.Restored{}, replicate.RolledBack{}, replicate.Settled{}, replicate.StartedOver{}, replicate.StateLost{}, replicate.Stuck{}, replicate.TooLarge{}}

// lossy counts the beginnings after which acknowledged operations may be gone. They count as
// begun too.
const lossy = "lossy"

func nameOf(e replicate.Event) string { return strings.ToLower(reflect.TypeOf(e).Name()) }

// noEvents returns the counts of the events at the start.
func noEvents() map[string]uint64 {
	counts := map[string]uint64{lossy: 0}
	for _, e := range events {
		counts[nameOf(e)] = 0
	}
	return counts
}

// counted is what a store counts.
type counted struct {
	submitted, failed atomic.Uint64

	mu     sync.Mutex
	events map[string]uint64
}

// otherBuild says that a member is of a build that compares states in another way. It is no
// fault, as no user sets how often states are compared.
type otherBuild struct{ replicate.Differs }

func (e otherBuild) String() string {
	return fmt.Sprintf("node %v is of another build: until all nodes are of one, their states are not compared", e.Member)
}

// noteEvent counts an event, and hands it on.
func (s *Store) noteEvent(e replicate.Event) {
	if d, ok := e.(replicate.Differs); ok && d.Setting == "HashEvery" {
		s.mixed.Store(&d.View)
		if s.cfg.OnEvent != nil {
			s.cfg.OnEvent(otherBuild{d})
		}
		return
	}
	s.noteObstacle(e)
	s.noteBegun(e)
	c := &s.counted
	c.mu.Lock()
	c.events[nameOf(e)]++
	if b, ok := e.(replicate.Begun); ok && b.Lossy {
		c.events[lossy]++
	}
	c.mu.Unlock()
	if s.cfg.OnEvent != nil {
		s.cfg.OnEvent(e)
	}
}

// Counts returns the counts. It waits while an operation is being applied.
func (s *Store) Counts() Counts {
	p := s.replica.Progress()
	c := Counts{Accepting: takesCommands(&p, s.lags()), Behind: p.Behind, Applied: s.app.applied.Load(),
		Submitted: s.counted.submitted.Load(), Failed: s.counted.failed.Load()}
	s.replica.Read(func() {
		sum := s.app.state.Summary()
		c.Keys, c.Bytes, c.Leases, c.Conflicts = sum.Keys, sum.Bytes, sum.Leases, sum.Conflicts
	})
	s.counted.mu.Lock()
	defer s.counted.mu.Unlock()
	c.Events = maps.Clone(s.counted.events)
	return c
}
