package demo

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/failaware/failaware"
)

// watch checks the invariants under all faults: supports of leaders do not overlap,
// up-to-date views are the same or have no member in common, and clocks are within their
// bounds.
//
// It reads all answers twice, in two rounds. A claim that a node makes in both rounds
// also held at the moment between them, if the two rounds were quick. So claims of
// several nodes can be compared.
type watch struct {
	world *World

	mu         sync.Mutex
	rounds     uint64
	violations []string
	stale      [MaxNodes + 1]time.Time // since when the view is not up to date; zero while it is
}

const (
	watchEvery = 4 * time.Millisecond
	// quick is the time limit of two rounds. A node cannot lose and regain a lead
	// within it, because that takes several messages.
	quick = 500 * time.Microsecond
	// clockSlack is the limit by which a clock may run backwards when a correction
	// takes effect.
	clockSlack = time.Microsecond
	// maxViolations is the number of violations kept.
	maxViolations = 20
)

// claim holds the answers of a node at one moment.
type claim struct {
	id     failaware.NodeID
	leader failaware.LeaderAnswer
	view   failaware.ViewAnswer
	clock  failaware.Reading
}

func (c *watch) run(ctx context.Context) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	var first, second []claim
	for {
		nodes := c.world.running()
		began := time.Now()
		first = claims(nodes, first[:0])
		second = claims(nodes, second[:0])
		inTime := time.Since(began) <= quick
		c.mu.Lock()
		if inTime {
			c.rounds++
			for _, v := range violations(first, second) {
				if len(c.violations) < maxViolations {
					c.violations = append(c.violations, v)
				}
			}
		}
		for i := range second {
			switch id := second[i].id; {
			case second[i].view.UpToDate:
				c.stale[id] = time.Time{}
			case c.stale[id].IsZero():
				c.stale[id] = began
			}
		}
		c.mu.Unlock()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// running returns the running nodes. It includes paused ones, because their answers must
// be true too.
func (w *World) running() (nodes []*failaware.Node) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, m := range w.members {
		if m.life != nil {
			nodes = append(nodes, m.life.node)
		}
	}
	return nodes
}

func claims(nodes []*failaware.Node, out []claim) []claim {
	for _, n := range nodes {
		out = append(out, claim{n.ID(), n.Leader(), n.View(), n.Clock()})
	}
	return out
}

// violations compares claims of two rounds over the same nodes.
func violations(first, second []claim) (list []string) {
	bad := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	for i := range first {
		a, a2 := &first[i], &second[i]
		for j := range first {
			if j == i {
				continue
			}
			b, b2 := &first[j], &second[j]
			if j > i && a.leader.Leads && a2.leader.Leads && b.leader.Leads && b2.leader.Leads {
				sa, sb := a.leader.Support.Intersect(a2.leader.Support), b.leader.Support.Intersect(b2.leader.Support)
				if sa.Intersects(sb) {
					bad("nodes %v and %v lead at the same time, with the supports %v and %v", a.id, b.id, sa, sb)
				}
			}
			if j > i && holds(a, a2) && holds(b, b2) &&
				a.view.View.ID != b.view.View.ID && a.view.View.Set.Intersects(b.view.View.Set) {
				bad("nodes %v and %v hold different up-to-date views that overlap: %v of %v and %v of %v",
					a.id, b.id, a.view.View.ID, a.view.View.Set, b.view.View.ID, b.view.View.Set)
			}
			between := b2 // b was read before a in each round
			if j > i {
				between = b
			}
			if v := clockViolation(a, between, a2); v != "" {
				list = append(list, v)
			}
		}
	}
	return list
}

// holds reports whether a node held one up-to-date view in both rounds.
func holds(a, a2 *claim) bool {
	return a.view.UpToDate && a2.view.UpToDate && a.view.View.ID == a2.view.View.ID
}

// clockViolation checks the reading of b, which was taken between two readings of a on
// the same timeline: the proven intervals of group time must agree.
func clockViolation(a, b, a2 *claim) string {
	t := a.clock.Timeline
	if t.None() || b.clock.Timeline != t || a2.clock.Timeline != t {
		return ""
	}
	const known = time.Duration(math.MaxInt64 / 4)
	if a.clock.Deviation > known || b.clock.Deviation > known || a2.clock.Deviation > known {
		return ""
	}
	low := a.clock.Time.Go().Add(-a.clock.Deviation - clockSlack)
	high := a2.clock.Time.Go().Add(a2.clock.Deviation + clockSlack)
	if r := b.clock.Time.Go(); r.Add(b.clock.Deviation).Before(low) || r.Add(-b.clock.Deviation).After(high) {
		return fmt.Sprintf("the clocks of nodes %v and %v contradict each other: %v ±%v, %v ±%v, %v ±%v",
			a.id, b.id, a.clock.Time.Go(), a.clock.Deviation, r, b.clock.Deviation, a2.clock.Time.Go(), a2.clock.Deviation)
	}
	return ""
}

// result returns the number of rounds checked, and the violations, which are never nil: JSON
// has a list.
func (c *watch) result() (uint64, []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.rounds, append([]string{}, c.violations...)
}

// staleFor returns for how long a node's view has not been up to date.
func (c *watch) staleFor(id failaware.NodeID) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stale[id].IsZero() {
		return 0
	}
	return time.Since(c.stale[id])
}
