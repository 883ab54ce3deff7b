package check

import (
	"fmt"
	"strings"
	"time"

	"github.com/failaware/failaware/timed"
)

// liveness measures how long a healed world takes to be led and to hold fresh
// views, and holds that against the bounds of Timing.Validate.
type liveness struct {
	c      *Checker
	stable bool
	since  int64 // true time from which on the bounds count
	began  int64 // true time at which the stable period began
	blocks []timed.Set
	elect  int64 // bound, and when it was reached (0: not yet)
	view   int64
	ledAt  int64
	viewAt int64
	dirty  bool
	apart  []int64 // for each block, when nodes of it came to be in two epochs; 0: they are in one
	mend   mending
	prompt int64     // bound of a view in a world that loses single packets only
	rejoin bool      // the bounds include the time that rejoining takes
	blamed timed.Set // nodes that have blamed their clocks in this period

	last       int64
	LedTime    int64 // node-nanoseconds
	FreshTime  int64
	UpTime     int64
	WorstElect time.Duration
	WorstView  time.Duration
	Periods    int
	Missed     int
}

// changed notes a change that may concern leads or views.
func (l *liveness) changed() { l.dirty = true }

// Begin starts a stable period: the blocks are Δ-partitions from now on, and
// rejoin is true if nodes restarted within the time that rejoining takes.
func (l *liveness) Begin(blocks []timed.Set, rejoin bool) {
	l.stable, l.since, l.blocks, l.apart = true, l.c.Now, blocks, make([]int64, len(blocks))
	l.elect, l.view = int64(l.c.Bounds.Elect), int64(l.c.Bounds.View)
	l.rejoin, l.blamed = false, timed.Set{}
	if rejoin {
		l.addRejoin()
	}
	l.prompt = int64(changeTime(&l.c.Timing, &l.c.Bounds, rejoin))
	l.ledAt, l.viewAt, l.dirty = 0, 0, true
	l.Periods++
	l.began = l.since
	if l.c.cast != nil {
		l.c.cast.Live.begin()
	}
}

// addRejoin adds the time that rejoining takes to the bounds, once.
func (l *liveness) addRejoin() {
	if !l.rejoin {
		l.rejoin = true
		l.elect += int64(l.c.Bounds.Rejoin)
		l.view += int64(l.c.Bounds.Rejoin)
	}
}

// noteBlame restarts the bounds because a node ends its incarnation. Packets of a clock that
// was broken before the world became still may come late, and bring that about once.
func (l *liveness) noteBlame(n *Process) {
	if l.stable && !l.blamed.Has(n.ID) {
		l.blamed.Add(n.ID)
		l.Begins()
		l.addRejoin()
	}
}

// End finishes a stable period. Both must have been reached in time, and held.
func (l *liveness) End() {
	l.Observe(l.c.Now)
	if l.calm() {
		l.endPace()
	}
	if l.c.Change != nil {
		l.endChange()
	} else if since := l.c.Now - l.since; (l.ledAt == 0 || l.viewAt == 0) && (l.blamed.Empty() || since > l.view) {
		l.miss("leader reached after %v, view after %v (0: never); bounds %v and %v",
			time.Duration(l.ledAt), time.Duration(l.viewAt), time.Duration(l.elect), time.Duration(l.view))
	}
	if l.viewAt != 0 && l.c.Change == nil {
		l.endClocks()
	}
	l.stable = false
	if l.c.cast != nil {
		l.c.cast.Live.end()
	}
}

func (l *liveness) miss(format string, args ...any) {
	l.Missed++
	var state strings.Builder
	for i, n := range l.c.processes {
		cl := &l.c.Claims[i]
		view := "no view"
		if cl.View != nil {
			view = fmt.Sprintf("view %v %v", cl.View.ID, cl.View.Set)
		}
		fmt.Fprintf(&state, "; node %d up %v leads %v %v locked to %v, %s fresh %v", n.ID, n.Up,
			l.c.Leads(i), cl.Support, cl.LockedTo.Node, view, l.c.Fresh(i))
	}
	l.c.Fail("liveness", l.c.processes[0], "%s; blocks %v%s", fmt.Sprintf(format, args...), l.blocks, state.String())
}

// Observe looks whether the blocks are led and fresh.
func (l *liveness) Observe(now int64) {
	if !l.stable {
		return
	}
	el := now - l.since
	if l.ledAt == 0 && l.allLed() {
		l.ledAt = el
		l.WorstElect = max(l.WorstElect, time.Duration(el))
	}
	if l.viewAt == 0 && l.allFresh() {
		l.viewAt = el
		l.WorstView = max(l.WorstView, time.Duration(el))
	}
	if l.c.cast != nil {
		l.c.cast.Live.observe()
	}
	if l.c.Single && l.viewAt == 0 && el > l.prompt {
		l.miss("retry: no view of all %v after the last change, which %v suffice for if one packet is lost", time.Duration(el), time.Duration(l.prompt))
	}
	l.together()
	if l.viewAt != 0 && !l.dirty || l.mends() {
		return
	}
	l.dirty = false
	if el > l.elect && !l.allLed() {
		l.miss("T/BI: %v after the world became still not every block has a leader that all its nodes support (bound %v)",
			time.Duration(el), time.Duration(l.elect))
	}
	if el > l.view && !l.allFresh() {
		l.miss("M5: %v after the world became still not every block holds one fresh view (bound %v)",
			time.Duration(el), time.Duration(l.view))
	}
}

// Account adds up for how long nodes were led and held fresh views. It is called
// before any claim changes; that claims end by time is taken into account
// exactly.
func (l *liveness) Account(now int64) {
	d := now - l.last
	if d <= 0 {
		return
	}
	c := l.c
	for i, n := range l.c.processes {
		if !n.Up {
			continue
		}
		cl := &c.Claims[i]
		l.UpTime += d
		if cl.ViewUntil >= now && cl.leadsMe(c, n) >= now { // the usual case
			l.FreshTime += d
			l.LedTime += d
			continue
		}
		l.FreshTime += overlap(l.last, now, cl.ViewUntil)
		l.LedTime += overlap(l.last, now, cl.leadsMe(c, n))
	}
	l.last = now
}

// leadsMe returns until when the node's leader leads with its vote.
func (cl *Claims) leadsMe(c *Checker, n *Process) int64 {
	if p := int(cl.LockedTo.Node) - 1; p >= 0 && p < len(c.Claims) && c.Claims[p].Support.Has(n.ID) {
		return c.Claims[p].LeadUntil
	}
	return 0
}

func overlap(from, to, end int64) int64 { return max(0, min(to, end)-from) }

// allLed reports whether every block has one leader, supported by exactly the
// block.
func (l *liveness) allLed() bool {
	for _, b := range l.blocks {
		found := false
		for id := b.Next(0); id != 0; id = b.Next(id) {
			if i := int(id) - 1; l.c.Leads(i) {
				if found || l.c.Claims[i].Support != b || !l.c.globalAsDue(i, b) {
					return false
				}
				found = true
			}
		}
		if !found {
			return false
		}
	}
	return true
}

// allFresh reports whether all nodes of every block hold the same up-to-date
// view, which is the block.
func (l *liveness) allFresh() bool {
	c := l.c
	for _, b := range l.blocks {
		first := int(b.Min()) - 1
		for id := b.Next(0); id != 0; id = b.Next(id) {
			i := int(id) - 1
			if !c.Fresh(i) || c.Claims[i].View.Set != b || c.Claims[i].View.ID != c.Claims[first].View.ID {
				return false
			}
		}
	}
	return true
}
