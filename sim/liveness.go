package sim

import (
	"fmt"
	"strings"
	"time"

	"github.com/failaware/failaware/timed"
)

// liveness measures how long a healed world takes to be led and to hold fresh
// views, and holds that against what Timing.Validate promises.
type liveness struct {
	w      *World
	stable bool
	since  int64 // true time from which on the bounds count
	began  int64 // true time at which the stable period began
	blocks []timed.Set
	elect  int64 // bound, and when it was reached (0: not yet)
	view   int64
	ledAt  int64
	viewAt int64
	dirty  bool

	last       int64
	ledTime    int64 // node-nanoseconds
	freshTime  int64
	upTime     int64
	worstElect time.Duration
	worstView  time.Duration
	periods    int
	missed     int
}

func (l *liveness) reset(w *World) { *l = liveness{w: w, last: w.now} }

// changed says that something changed that may matter to what is reached.
func (l *liveness) changed() { l.dirty = true }

// begin starts a stable period: the blocks are Δ-partitions from now on, and
// rejoin tells whether nodes restarted within the time that this costs.
func (l *liveness) begin(blocks []timed.Set, rejoin bool) {
	l.stable, l.since, l.blocks = true, l.w.now, blocks
	l.elect, l.view = int64(l.w.bounds.Elect), int64(l.w.bounds.View)
	if rejoin {
		l.elect += int64(l.w.bounds.Rejoin)
		l.view += int64(l.w.bounds.Rejoin)
	}
	l.ledAt, l.viewAt, l.dirty = 0, 0, true
	l.periods++
	l.began = l.since
	if l.w.cast != nil {
		l.w.cast.live.begin()
	}
}

// end finishes a stable period. Both must have been reached in time, and held.
func (l *liveness) end() {
	l.observe(l.w.now)
	if l.w.change != nil {
		l.endChange()
	} else if l.ledAt == 0 || l.viewAt == 0 {
		l.miss("leader reached after %v, view after %v (0: never); bounds %v and %v",
			time.Duration(l.ledAt), time.Duration(l.viewAt), time.Duration(l.elect), time.Duration(l.view))
	}
	l.stable = false
	if l.w.cast != nil {
		l.w.cast.live.end()
	}
}

func (l *liveness) miss(format string, args ...any) {
	l.missed++
	var state strings.Builder
	for i, n := range l.w.nodes {
		cl := &l.w.check.claims[i]
		view := "no view"
		if cl.view != nil {
			view = fmt.Sprintf("view %v %v", cl.view.ID, cl.view.Set)
		}
		fmt.Fprintf(&state, "; node %d up %v leads %v %v locked to %v, %s fresh %v", n.id, n.up,
			l.w.check.leads(i), cl.support, cl.lockedTo.Node, view, l.w.check.fresh(i))
	}
	l.w.check.fail("liveness", l.w.nodes[0], "%s; blocks %v%s", fmt.Sprintf(format, args...), l.blocks, state.String())
}

// observe looks whether the blocks are led and fresh.
func (l *liveness) observe(now int64) {
	if !l.stable {
		return
	}
	el := now - l.since
	if l.ledAt == 0 && l.allLed() {
		l.ledAt = el
		l.worstElect = max(l.worstElect, time.Duration(el))
	}
	if l.viewAt == 0 && l.allFresh() {
		l.viewAt = el
		l.worstView = max(l.worstView, time.Duration(el))
	}
	if l.w.cast != nil {
		l.w.cast.live.observe()
	}
	if l.viewAt != 0 && !l.dirty {
		return
	}
	l.dirty = false
	if el > l.elect && !l.allLed() {
		l.miss("T/BI: %v after the world became still not every block is led by one that all support (bound %v)",
			time.Duration(el), time.Duration(l.elect))
	}
	if el > l.view && !l.allFresh() {
		l.miss("M5: %v after the world became still not every block holds one fresh view (bound %v)",
			time.Duration(el), time.Duration(l.view))
	}
}

// account adds up for how long nodes were led and held fresh views. It is called
// before any claim changes; that claims end by time is taken into account
// exactly.
func (l *liveness) account(now int64) {
	d := now - l.last
	if d <= 0 {
		return
	}
	c := &l.w.check
	for i, n := range l.w.nodes {
		if !n.up {
			continue
		}
		cl := &c.claims[i]
		l.upTime += d
		if cl.viewUntil >= now && cl.leadsMe(c, n) >= now { // the usual case
			l.freshTime += d
			l.ledTime += d
			continue
		}
		l.freshTime += overlap(l.last, now, cl.viewUntil)
		l.ledTime += overlap(l.last, now, cl.leadsMe(c, n))
	}
	l.last = now
}

// leadsMe returns until when the node's leader leads with its vote.
func (cl *claims) leadsMe(c *checker, n *Node) int64 {
	if p := int(cl.lockedTo.Node) - 1; p >= 0 && p < len(c.claims) && c.claims[p].support.Has(n.id) {
		return c.claims[p].leadUntil
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
			if i := int(id) - 1; l.w.check.leads(i) {
				if found || l.w.check.claims[i].support != b || !l.w.check.globalAsDue(i, b) {
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
	c := &l.w.check
	for _, b := range l.blocks {
		first := int(b.Min()) - 1
		for id := b.Next(0); id != 0; id = b.Next(id) {
			i := int(id) - 1
			if !c.fresh(i) || c.claims[i].view.Set != b || c.claims[i].view.ID != c.claims[first].view.ID {
				return false
			}
		}
	}
	return true
}
