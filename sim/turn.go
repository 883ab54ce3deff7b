package sim

import (
	"github.com/failaware/failaware/internal/life"
	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/leader/epoch"
	"github.com/failaware/failaware/sim/internal/hardware"
	"github.com/failaware/failaware/timed"
)

// maxRepeats is how many turns in a row may leave a node due at once. The effects of a turn
// may make something due that the turn has already checked.
const maxRepeats = 4

// wake lets a node look at its timers.
func (w *World) wake(e event) {
	n := w.nodes[e.node()]
	if !n.proc.Up || e.arg != n.wakeTicket {
		return
	}
	n.wakeAt, n.armedFor = hardware.Forever, timed.Never
	if n.stalledUntil > w.now {
		w.arm(n, n.stalledUntil)
		return
	}
	if w.reincarnateIfUpset(n) {
		return
	}
	if len(n.socket) > 0 { // packets come before timers
		if w.readSocket(n); !n.proc.Up || n.proc.Upset {
			return
		}
	}
	now := n.tick(w.now)
	if n.proc.Stack.Oversleeps(now) {
		w.check.Fail("idle", &n.proc, "has work before its deadline")
	}
	if now < n.proc.Stack.Deadline() {
		w.arm(n, 0)
		return
	}
	if !w.readQuiet(n, now) {
		return
	}
	w.events++
	w.count.Timeouts++
	w.mix(uint64(w.now) ^ uint64(e.node())<<56)
	if w.opt.Trace != nil {
		w.trace(n, "timeout")
	}
	w.finishTurn(n, now, n.proc.Stack.HandleTimeout(now, w.out[:0]))
	w.checkIdle(n, now)
	if w.global != nil {
		w.maybeVerify(n)
	}
	if w.admin != nil {
		w.administer(n)
	}
}

// checkIdle demands, after a timeout and its effects, that a node has done everything due.
// It may leave work to its next turns, whose number finishTurn limits.
func (w *World) checkIdle(n *Node, now timed.Instant) {
	if !n.proc.Up || n.proc.Upset || n.proc.Stack.Deadline() > now {
		return
	}
	if n.repeats++; n.repeats > maxRepeats {
		w.check.Fail("idle", &n.proc, "is due at once after each of %d turns", n.repeats)
	}
}

// arm schedules the node's next look at its timers, not before earliest.
func (w *World) arm(n *Node, earliest int64) {
	if n.proc.Stack == nil {
		return
	}
	due := n.proc.Stack.Deadline()
	if due >= n.armedFor && n.wakeAt != hardware.Forever {
		return // the scheduled look comes early enough
	}
	at := max(n.proc.Clock.When(due), earliest, w.now)
	if at >= n.wakeAt {
		return
	}
	n.armedFor = due
	if at != hardware.Forever {
		at += n.jitter(w)
	}
	if at >= n.wakeAt {
		return
	}
	n.wakeAt = at
	w.scheduleWake(n, at)
}

// scheduleWake schedules a look of the node at its timers, in place of the one scheduled
// before.
func (w *World) scheduleWake(n *Node, at int64) {
	n.wakeTicket++
	w.schedule(at, eventWake, n.proc.Index, n.wakeTicket)
}

// finishTurn performs the effects of a turn, checks the world, and arms the timer.
func (w *World) finishTurn(n *Node, now timed.Instant, out []stack.Effect) {
	why, died := w.perform(n, out)
	if died {
		return
	}
	w.out, w.writing = out[:0], w.writing[:0]
	if n.proc.Stack.Deadline() > now {
		n.repeats = 0
	}
	w.check.Turn(&n.proc, now)
	switch why {
	case life.None:
	case life.NewEpoch:
		w.reincarnateNow(n, why)
	default:
		w.handleBlame(n, why)
	}
	w.recordClaims(n)
	if w.restless != nil && n.proc.Up && !n.proc.Upset && w.maybeRetire(n, now) {
		return
	}
	if w.check.Quit == &n.proc {
		w.check.Quit = nil
		w.crash(n)
		return
	}
	if w.cast != nil {
		if w.check.Leaves == &n.proc {
			w.check.Leaves = nil
			w.overrun(n)
			return
		}
		if !n.slowConsumer {
			w.consume(n)
		}
	}
	if n.proc.Up && !n.proc.Upset {
		w.arm(n, 0)
	}
}

// perform performs the effects of a turn. It returns why the node asks for a new
// incarnation, or None, and reports whether the machine crashed in the middle of the turn.
func (w *World) perform(n *Node, out []stack.Effect) (why life.Reason, died bool) {
	w.depart(n)
	sent, late := 0, w.preempts(n)
	broken := n.sendErrors > 0 && w.net.Chance(n.sendErrors)
	for i := range out {
		switch e := &out[i]; e.Kind {
		case stack.Send, stack.SendBack:
			w.checkSent(n, e.Packet)
			if slot := w.writing[sent]; broken {
				w.count.Lost++
				w.drop(slot)
			} else if late > 0 {
				w.stop(n, e, slot)
			} else {
				w.send(n, e, slot)
			}
			sent++
		case stack.Persist:
			if w.persist(n, e.Epoch) {
				w.crashMidTurn(n, sent)
				return life.None, true
			}
		case stack.Deliver:
			w.performBroadcast(n, e.Broadcast)
		case stack.Notify:
			if ends := w.notify(n, e.Event); ends != life.None {
				why = ends
			}
		}
	}
	w.dropUnsent(sent) // an inconsistent node keeps its packets back
	w.goOnAfter(n, late)
	return why, false
}

// checkSent checks a packet that a node sends, even if it is then lost.
func (w *World) checkSent(n *Node, p *wire.Packet) {
	if p.Header.Quiet && p.Frames&^(wire.FrameReply|wire.FrameStamp) != 0 {
		w.check.Fail("quiet", &n.proc, "has its peers sleep through news: frames %b", p.Frames)
	}
	w.check.CheckSent(&n.proc, p, w.payload != nil)
	if w.opt.Unequal {
		w.countUnequal(n, p)
	}
	if w.servers != nil && p.Has(wire.FrameLine) {
		w.check.NotePromise(p.Line.Until)
	}
	if w.cast != nil && p.Has(wire.FrameBroadcast) {
		w.cast.check.NoteSent(p.Broadcast)
	}
	if w.global != nil && p.Has(wire.FrameAnswer) {
		w.check.Answered(&n.proc, p)
	}
}

// notify handles an event that a node reports. It returns why the node asks for a new
// incarnation, or None.
func (w *World) notify(n *Node, e *stack.Event) (why life.Reason) {
	w.mix(uint64(e.Kind)<<8 | uint64(e.Peer))
	if w.opt.Trace != nil {
		w.trace(n, "* %v", e)
	}
	why = w.check.Event(&n.proc, e)
	if e.Kind == stack.EventReady {
		n.life.Ready()
		n.longestVote = n.timing.MaxLockTime // longer votes are over
	}
	if e.Kind == stack.EventNewEpoch {
		why = life.NewEpoch
	}
	if e.Kind == stack.EventEpoch && e.Change.Kind == epoch.Proposed {
		w.failProposer(n)
	}
	if w.app.Start != nil {
		w.app.noteEvent(n, e)
	}
	w.recordEvent(n, e)
	return why
}
