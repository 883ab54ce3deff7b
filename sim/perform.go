package sim

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/failaware/failaware/sim/internal/hardware"
	"github.com/failaware/failaware/timed"
)

// node returns the process that is meant by an id: not a rival of it.
func (w *World) node(id timed.NodeID) *Node { return w.nodes[id-1] }

// perform lets the fault with an index begin. While the world is held still to
// see whether the bounds are kept, nothing else happens to it.
func (w *World) perform(i int32) {
	f := &w.faults[i]
	if w.still {
		return
	}
	w.changes++
	w.count.Faults[faultShapes[f.Kind].class]++
	w.mix(uint64(i) << 32)
	if w.opt.Trace != nil {
		w.traceFault("begins", f)
	}
	if w.record != nil {
		w.recordFault(f)
	}
	switch f.Kind {
	case Heal:
		w.heal(i)
	case Stall, Suspend:
		n := w.node(f.Node)
		n.stalledUntil = max(n.stalledUntil, w.endOf(f))
		n.upset = n.upset || f.Kind == Suspend && n.up
		w.recordStall(n, f.Kind)
		if w.change != nil && w.check.leadsGlobally(n.index) {
			for range stoppedDrafts { // it is stopped between a look at its lease and what it does by it
				w.change.prepare(n)
			}
		}
		return // they end by themselves
	case Crash, Reboot:
		w.crash(w.node(f.Node))
		if f.Kind == Reboot {
			w.replaceClock(w.node(f.Node))
		}
	case CrashAll:
		for _, n := range w.nodes {
			w.crash(n)
		}
	case Rival:
		if len(w.nodes) < maxProcesses {
			w.app.started(w.addNode(f.Node, len(w.nodes)))
		}
	case Clone: // the broadcast rests on boot ids as such, so it has no clones
		if n := w.node(f.Node); n.attended() && len(w.nodes) < maxProcesses && w.cast == nil {
			w.clone(n)
		}
	case Burst:
		w.chatter(w.node(f.Node), f.Size)
		return
	case SlowConsumer:
		w.node(f.Node).lazy = true
	case Resign:
		w.resign(w.node(f.Node))
		return
	case Wander:
		w.bend(w.node(f.Node), int64(f.Rate))
		return
	case Warm:
		w.warms(i, 1)
		return // it ends by itself
	case ClockRate, ClockStop, ClockJump:
		w.breakClock(w.node(f.Node), f)
		if f.Kind == ClockJump {
			return
		}
	}
	w.running = append(w.running, i)
	if f.Kind.relinks() {
		w.relink()
	}
	if f.For > 0 {
		w.schedule(w.endOf(f), ended, 0, i)
	}
}

// endOf returns when a fault that begins now ends.
func (w *World) endOf(f *Fault) int64 {
	if f.For == 0 {
		return w.now + int64(MaxDuration)
	}
	return w.now + int64(f.For)
}

// endFault ends the fault with an index, unless the world has healed since.
func (w *World) endFault(i int32) {
	k := slices.Index(w.running, i)
	if k < 0 {
		return
	}
	w.running = slices.Delete(w.running, k, k+1)
	f := &w.faults[i]
	if w.opt.Trace != nil {
		w.traceFault("ends", f)
	}
	if w.record != nil {
		w.recordEnd(f)
	}
	switch f.Kind {
	case Heal:
		w.still = false
		w.check.live.end()
		w.revive()
	case Crash, Reboot:
		w.restart(w.node(f.Node))
	case CrashAll:
		w.revive()
	case Rival, Clone:
		w.retire(f.Node)
	case SlowConsumer:
		w.goOn(w.node(f.Node))
	case ClockRate, ClockStop:
		n := w.node(f.Node)
		w.bend(n, hardware.DrawRate(w.clocks, w.opt.Timing.MaxDrift))
		w.rearm(n)
	}
	if f.Kind.relinks() {
		w.relink()
	}
}

// revive starts all processes that are down, but for rivals.
func (w *World) revive() {
	for _, n := range w.nodes[:w.opt.Nodes] {
		n.dead = false
		w.restart(n)
	}
}

// retire ends the rivals of an id for good.
func (w *World) retire(id timed.NodeID) {
	for _, n := range w.nodes[w.opt.Nodes:] {
		if n.id == id {
			w.crash(n)
		}
	}
}

// bend gives a clock another rate.
func (w *World) bend(n *Node, rate int64) {
	n.clock.Bend(w.now, rate)
	w.check.rebent(n)
}

// breakClock makes a clock leave ρ.
func (w *World) breakClock(n *Node, f *Fault) {
	w.check.broken, n.clockBroken = true, true
	switch f.Kind {
	case ClockRate:
		w.bend(n, int64(f.Rate))
	case ClockStop:
		w.bend(n, hardware.Stopped)
	case ClockJump:
		n.clock.Jump(w.now, f.Extra)
		w.check.rebent(n)
		n.upset = n.upset || n.up && f.Extra < 0 // the process reads its clock all the time, and sees it go back
	}
	w.rearm(n)
}

// rearm schedules the node's next look at its timers anew.
func (w *World) rearm(n *Node) {
	if n.up {
		n.wakeAt, n.armedFor = hardware.Forever, timed.Never
		w.arm(n, 0)
		w.rearmTimers(n)
	}
}

// heal ends all faults, lets crashed nodes start again, and holds the world
// still: its blocks are Δ-partitions from now on.
func (w *World) heal(i int32) {
	f := &w.faults[i]
	w.calm()
	w.still = true
	up := w.all()
	for _, n := range w.nodes[:w.opt.Nodes] {
		if !n.up && (f.Down.Has(n.id) && up.Len() > 1 || w.change != nil && w.change.banned(n)) {
			n.dead = true
			up.Remove(n.id)
		}
	}
	rejoin := len(w.nodes) > w.opt.Nodes
	for _, n := range w.nodes {
		if n.index >= w.opt.Nodes {
			w.crash(n)
			continue
		}
		// What the others think of a node whose clock was broken, or whose id was
		// used twice, ends with its incarnation only: it might still stop for the
		// sake of a rival that is gone.
		if n.clockBroken || w.check.usedTwice(n.id) {
			w.crash(n)
		}
		if n.clockBroken {
			w.replaceClock(n)
		}
		if !n.dead {
			w.restart(n)
		}
		rejoin = rejoin || n.upset || w.now-n.restarted < int64(w.bounds.Rejoin)
	}
	w.check.live.begin(partition(f.Blocks, up), rejoin)
}

// partition returns the blocks that a set falls into: whoever no block has is
// alone.
func partition(blocks []timed.Set, of timed.Set) (out []timed.Set) {
	if len(blocks) == 0 {
		return []timed.Set{of}
	}
	for _, b := range blocks {
		if b = b.Intersect(of); !b.Empty() {
			out = append(out, b)
			of = of.Minus(b)
		}
	}
	for id := range of.All() {
		out = append(out, timed.SetOf(id))
	}
	return out
}

// calm ends all faults of links and processes.
func (w *World) calm() {
	w.running = w.running[:0]
	w.relink()
	for _, n := range w.nodes {
		if n.stalledUntil > w.now {
			n.stalledUntil = w.now
			w.recordStall(n, "")
			w.rearm(n)
		}
	}
	w.eager()
}

// all returns the ids of the world.
func (w *World) all() timed.Set {
	var s timed.Set
	for _, n := range w.nodes {
		s.Add(n.id)
	}
	return s
}

// runUntil performs events and planned faults up to true time t. It returns
// false when a check has failed.
func (w *World) runUntil(t int64) bool {
	for w.next < w.planned {
		at := origin + int64(w.faults[w.next].At)
		if at > t {
			break
		}
		if !w.runEvents(at) {
			return false
		}
		w.next++
		w.perform(int32(w.next - 1))
		w.settle()
		if w.check.failed != nil {
			return false
		}
	}
	return w.runEvents(t)
}

func (w *World) runEvents(t int64) bool {
	for len(w.queue.heap) > 0 && w.queue.heap[0].at <= t {
		if !w.step() || w.events&haltMask == 0 && w.halted() {
			return false
		}
	}
	w.now = max(w.now, t)
	w.check.live.observe(w.now)
	return w.check.failed == nil
}

// haltMask is how often, in events, a run looks whether it is to end before its
// time.
const haltMask = 1<<12 - 1

// haltWith lets the world end before its time when ctx is done. What it returns
// is to be called when the world does not run any more.
func (w *World) haltWith(ctx context.Context) (forget func() bool) {
	halt := new(atomic.Bool)
	w.opt.halt = halt
	return context.AfterFunc(ctx, func() { halt.Store(true) })
}

func (w *World) halted() bool { return w.opt.halt != nil && w.opt.halt.Load() }
