package sim

import (
	"time"

	"github.com/failaware/failaware/internal/random"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// restless is the state of a world with the option Restless. Its nodes lead often, and
// resignations overtake the requests, proposals and views that they give up.
type restless struct {
	rand random.Stream
	rate float64 // the share of moments at which a leader gives up its lead
	seen []moment
}

// moment is the state of a process at the end of its last turn.
type moment struct {
	boot                timed.BootID
	leads, leaves       bool
	proposal, committed *membership.View
	request             timed.Instant
}

// Shares of the actions of restless leaders.
const (
	namingRestless = 0.7  // of resignations name a successor
	leavingMoments = 0.03 // of resigning nodes leave, and come back
	askingMoments  = 0.1  // of the rate, if the node has only sent another request
	atOnce         = 0.25 // of actions happen at the same reading of the clock
)

// newRestless returns nil without the option Restless.
func newRestless(seed uint64, opt *Options) *restless {
	if !opt.Restless {
		return nil
	}
	r := &restless{rand: random.New(seed, random.Restless)}
	r.rate = r.rand.LogUniform(0.03, 0.5)
	return r
}

// momentOf returns the moment of the present incarnation of a process.
func (r *restless) momentOf(n *Node) *moment {
	for len(r.seen) <= n.proc.Index {
		r.seen = append(r.seen, moment{})
	}
	m := &r.seen[n.proc.Index]
	if m.boot != n.proc.Boot {
		*m = moment{boot: n.proc.Boot}
	}
	return m
}

// maybeRetire sometimes schedules a process to give up its lead, after a turn in which it
// won the lead, proposed or committed a view, or sent a request. It reports whether the
// process has left.
func (w *World) maybeRetire(n *Node, now timed.Instant) (left bool) {
	r, el, mb := w.restless, n.proc.Stack.Election(), n.proc.Stack.Membership()
	m := r.momentOf(n)
	last := *m
	m.leads, m.proposal, m.committed, m.request = el.Leads(now), mb.Proposal(), mb.Committed(), el.LastRequest()
	if m.leaves {
		return w.endIfLeft(n, now)
	}
	often := 0.0
	switch {
	case m.leads && !last.leads, m.proposal != nil && m.proposal != last.proposal, m.committed != nil && m.committed != last.committed:
		often = r.rate
	case m.leads && m.request != last.request:
		often = askingMoments * r.rate
	}
	if !w.stable && r.rand.Chance(often) {
		delay := int64(0)
		if !r.rand.Chance(atOnce) {
			delay = r.rand.Below(int64(2 * w.opt.Timing.FastThreshold))
		}
		w.schedule(w.now+delay, eventRetire, n.proc.Index, 0)
	}
	return false
}

// retire makes a process give up its lead, or leave.
func (w *World) retire(e event) {
	r, n := w.restless, w.nodes[e.node()]
	if w.stable || !n.hasStack() || n.proc.Upset || n.stalledUntil > w.now {
		return
	}
	if !w.readWaiting(n) {
		return
	}
	now := n.tick(w.now)
	switch m := r.momentOf(n); {
	case m.leaves || !n.proc.Stack.Leads(now):
	case n.proc.Index < w.opt.Nodes && r.rand.Chance(leavingMoments):
		m.leaves = true
		w.finishTurn(n, now, n.proc.Stack.Leave(now, w.out[:0]))
	case r.rand.Chance(namingRestless):
		to := timed.NodeID(1 + r.rand.Below(int64(w.opt.Nodes)))
		w.finishTurn(n, now, n.proc.Stack.HandOver(now, to, w.out[:0]))
	default:
		w.finishTurn(n, now, n.proc.Stack.Resign(now, w.out[:0]))
	}
}

// endIfLeft crashes a leaving process for a while, once nothing binds others to it. It
// reports whether the process has left.
func (w *World) endIfLeft(n *Node, now timed.Instant) (left bool) {
	if !n.proc.Stack.Left(now) {
		return false
	}
	w.check.CheckLeft(&n.proc)
	w.crashFor(n, time.Duration(w.restless.rand.LogUniform(0.01, 5)*float64(w.opt.Timing.Expires)))
	return !n.proc.Up
}

// leaving reports whether a process is about to leave.
func (w *World) leaving(n *Node) bool {
	return w.restless != nil && n.proc.Up && w.restless.momentOf(n).leaves
}
