package sim

import (
	"github.com/failaware/failaware/internal/life"
	"github.com/failaware/failaware/sim/internal/hardware"
	"github.com/failaware/failaware/sim/situation"
	"github.com/failaware/failaware/timed"
)

// Package internal/life decides when the incarnations of a process begin, as in the loop of
// a node. The computer keeps the longest time for which the process may have voted.

// start starts a process of a node.
func (w *World) start(n *Node) {
	now := n.proc.Clock.Show(w.now)
	n.processes++
	n.ordered, n.keeps = nil, false
	w.drawSettings(n)
	n.proc.SetTiming(&n.timing)
	n.life = life.New(&n.timing, n.longestVote, now)
	n.longestVote = max(n.longestVote, n.timing.MaxLockTime)
	w.beginOrWait(n, now)
}

// beginOrWait begins an incarnation at now, or holds it back until it may begin. It reports
// whether the incarnation has begun.
func (w *World) beginOrWait(n *Node, now timed.Instant) bool {
	at := n.life.BeginAt(false)
	if now >= at {
		w.incarnate(n)
		return true
	}
	w.check.Sometimes(situation.HeldBack)
	n.proc.Up, n.held = false, true
	w.waitToBegin(n, at)
	return false
}

// waitToBegin schedules the next look at an incarnation that is held back.
func (w *World) waitToBegin(n *Node, at timed.Instant) {
	n.holdTicket++
	if t := max(n.proc.Clock.When(at), n.stalledUntil, w.now); t != hardware.Forever {
		w.schedule(t+n.jitter(w), eventResume, n.proc.Index, n.holdTicket)
	}
}

// resume begins an incarnation that was held back.
func (w *World) resume(e event) {
	n := w.nodes[e.node()]
	if !n.held || e.arg != n.holdTicket {
		return
	}
	if at := n.life.BeginAt(false); n.stalledUntil > w.now || n.proc.Clock.Show(w.now) < at {
		w.waitToBegin(n, at)
		return
	}
	w.check.Live.Account(w.now)
	w.incarnate(n)
	w.check.Started(&n.proc)
	w.app.started(n)
	w.recordClaims(n)
}

// distrust notes that a running process has evidence against its clock, so that a new
// incarnation is due. An incarnation that is held back waits again from the start.
func (w *World) distrust(n *Node, why life.Reason) {
	switch {
	case n.proc.Up:
		n.proc.Upset, n.upsetBy = true, why
	case n.held:
		now := n.proc.Clock.Show(w.now)
		n.life.Restart(now, why)
		w.waitToBegin(n, n.life.BeginAt(false))
	}
}

// reincarnate ends the incarnation of an upset process, with all claims that rest on its
// clock, and begins another one as soon as it may.
func (w *World) reincarnate(n *Node) {
	w.check.Sometimes(situation.Slept)
	n.proc.Upset = false
	n.last = min(n.last, n.proc.Clock.Show(w.now))
	if w.opt.Bare {
		previous := n.proc.Boot
		w.incarnate(n)
		w.app.restarted(n, previous)
		return
	}
	now, previous := n.tick(w.now), n.proc.Boot
	w.finishTurn(n, now, n.proc.Stack.Distrust(now, w.out[:0]))
	w.check.CheckEnded(&n.proc)
	if w.cast != nil && n.keeps {
		n.ordered = n.proc.Stack.BroadcastState().Ordered()
	}
	w.check.Live.Account(w.now)
	w.noteEnd(n)
	n.life.Restart(now, n.upsetBy)
	if !w.beginOrWait(n, now) {
		w.emptySocket(n)
		w.app.holdBack(n)
		w.recordClaims(n)
		return
	}
	w.check.Started(&n.proc)
	w.app.restarted(n, previous)
}

// reincarnateIfUpset reincarnates an upset process. It reports whether the process was upset.
func (w *World) reincarnateIfUpset(n *Node) bool {
	upset := n.proc.Upset
	if upset {
		w.reincarnate(n)
	}
	return upset
}
