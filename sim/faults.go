package sim

import (
	"slices"
	"time"

	"github.com/failaware/failaware/internal/life"
	"github.com/failaware/failaware/sim/fault"
	"github.com/failaware/failaware/sim/internal/hardware"
	"github.com/failaware/failaware/sim/situation"
	"github.com/failaware/failaware/timed"
)

// beginFault lets the fault with an index begin. While the world is stable, to see
// whether the bounds are kept, no fault begins.
func (w *World) beginFault(i int32) {
	f := &w.faults[i]
	if w.stable && f.Kind != fault.Lose {
		return
	}
	w.changes++
	w.count.Faults[f.Kind.Class()]++
	w.mix(uint64(i) << 32)
	if w.opt.Trace != nil {
		w.traceFault("begins", f)
	}
	w.recordFault(f)
	if !w.applyFault(i, f) {
		return
	}
	w.running = append(w.running, i)
	if changesLinks(f.Kind) {
		w.applyFaults()
	}
	if f.For > 0 {
		w.schedule(w.endOf(f), eventFaultEnds, 0, i)
	}
}

// crashFor crashes a machine now, for a time. The schedule does not have this fault.
func (w *World) crashFor(n *Node, d time.Duration) {
	w.faults = append(w.faults, fault.Fault{At: w.Time(), Kind: fault.Crash, Node: n.proc.ID, For: d})
	w.beginFault(int32(len(w.faults) - 1))
}

// applyFault performs the beginning of a fault, except on links. It reports whether the
// fault lasts, so that the world must end it.
func (w *World) applyFault(i int32, f *fault.Fault) (lasts bool) {
	switch f.Kind {
	case fault.Heal:
		w.heal(f)
	case fault.Stall, fault.Suspend:
		w.stall(f)
		return false
	case fault.Crash, fault.Reboot:
		w.crash(w.node(f.Node))
		if f.Kind == fault.Reboot {
			w.replaceClock(w.node(f.Node))
		}
	case fault.CrashAll:
		for _, n := range w.nodes {
			w.crash(n)
		}
	case fault.Rival:
		if len(w.nodes) < maxProcesses {
			w.app.started(w.addNode(f.Node, len(w.nodes)))
		}
	case fault.Clone: // the broadcast relies on unique boot ids, so its worlds have no clones
		if n := w.node(f.Node); n.hasStack() && len(w.nodes) < maxProcesses && w.cast == nil {
			w.clone(n)
		}
	case fault.Burst:
		w.broadcastRandom(w.node(f.Node), f.Size)
		return false
	case fault.SlowConsumer:
		w.node(f.Node).slowConsumer = true
	case fault.Lose:
		w.pendingLosses = append(w.pendingLosses, pendingLoss{*f, w.endOf(f)})
		return false
	case fault.Resign:
		w.resign(w.node(f.Node))
		return false
	case fault.Wander:
		w.bend(w.node(f.Node), hardware.Within(int64(f.Rate), w.opt.Timing.MaxDrift))
		return false
	case fault.Temperature:
		w.scheduleTemperature(i, 1)
		return false
	case fault.ClockRate, fault.ClockStop, fault.ClockJump:
		w.breakClock(w.node(f.Node), f)
		return f.Kind != fault.ClockJump
	}
	return true
}

// endOf returns when a fault that begins now ends.
func (w *World) endOf(f *fault.Fault) int64 {
	if f.For == 0 {
		return w.now + int64(MaxDuration)
	}
	return w.now + int64(f.For)
}

// endFault ends the fault with an index, unless the world has healed meanwhile.
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
	w.recordEnd(f)
	switch f.Kind {
	case fault.Heal:
		w.stable = false
		w.check.Live.End()
		w.restartAll()
	case fault.Crash, fault.Reboot:
		w.restart(w.node(f.Node))
	case fault.CrashAll:
		w.restartAll()
	case fault.Rival, fault.Clone:
		w.crashRivals(f.Node)
	case fault.SlowConsumer:
		w.consumeAgain(w.node(f.Node))
	case fault.ClockRate, fault.ClockStop:
		n := w.node(f.Node)
		w.bend(n, hardware.DrawRate(w.clocks, w.opt.Timing.MaxDrift))
		w.rearm(n)
	}
	if changesLinks(f.Kind) {
		w.applyFaults()
	}
}

// stall stops a process until the end of the fault. Global leaders are stopped between the
// check of their lease and the edict that they then create.
func (w *World) stall(f *fault.Fault) {
	n := w.node(f.Node)
	n.stalledUntil = max(n.stalledUntil, w.endOf(f))
	if f.Kind == fault.Suspend {
		w.distrust(n, life.Suspended)
		if !slices.ContainsFunc(w.nodes, func(n *Node) bool { return n.upsetBy != life.Suspended || n.stalledUntil <= w.now }) {
			w.check.Sometimes(situation.AllSuspended)
		}
	}
	w.recordStall(n, f.Kind)
	if w.admin != nil && w.check.LeadsGlobally(n.proc.Index) {
		for range stoppedDrafts {
			w.admin.prepare(n)
		}
	}
}

// restartAll starts all processes that are down, without rivals.
func (w *World) restartAll() {
	for _, n := range w.nodes[:w.opt.Nodes] {
		n.staysDown = false
		w.restart(n)
	}
}

// crashRivals ends the rivals of an id for good.
func (w *World) crashRivals(id timed.NodeID) {
	for _, n := range w.nodes[w.opt.Nodes:] {
		if n.proc.ID == id {
			w.crash(n)
		}
	}
}

// bend changes the rate of a clock.
func (w *World) bend(n *Node, rate int64) {
	n.proc.Clock.Bend(w.now, rate)
	w.check.ClockBent(&n.proc)
}

// breakClock makes a clock leave ρ.
func (w *World) breakClock(n *Node, f *fault.Fault) {
	w.check.Broken, n.clockBroken = true, true
	switch f.Kind {
	case fault.ClockRate:
		w.bend(n, int64(f.Rate))
	case fault.ClockStop:
		w.bend(n, hardware.Stopped)
	case fault.ClockJump:
		n.proc.Clock.Jump(w.now, f.Extra)
		w.check.ClockBent(&n.proc)
		if f.Extra < 0 {
			w.distrust(n, life.ClockBackwards) // the process reads its clock all the time
		}
	}
	w.rearm(n)
}

// rearm schedules the node's next look at its timers again, after a change of its clock or
// the end of its stall.
func (w *World) rearm(n *Node) {
	if n.held {
		w.waitToBegin(n, n.life.BeginAt(false))
	}
	if n.proc.Up {
		n.wakeAt, n.armedFor = hardware.Forever, timed.Never
		w.arm(n, 0)
		w.rearmTimers(n)
	}
}

// scheduleTemperature schedules a step of a change of temperature. The first is step 1.
func (w *World) scheduleTemperature(i int32, step int64) {
	if step <= fault.TemperatureSteps {
		f := &w.faults[i]
		w.schedule(origin+int64(f.At)+int64(f.For)/fault.TemperatureSteps*step, eventTemperature, int(f.Node)-1, i)
	}
}

// temperatureStep changes a clock's rate by its part of a change of temperature, in
// addition to other changes. The rate never leaves ρ.
func (w *World) temperatureStep(e event) {
	f, n := &w.faults[e.arg], w.nodes[e.node()]
	step := (w.now - origin - int64(f.At)) / (int64(f.For) / fault.TemperatureSteps)
	w.scheduleTemperature(e.arg, step+1)
	if !n.clockBroken {
		rate := n.proc.Clock.Rate() + f.RateAfter(step) - f.RateAfter(step-1)
		w.bend(n, hardware.Within(rate, w.opt.Timing.MaxDrift))
	}
}

// heal ends all faults, restarts crashed nodes, and keeps the world stable: its blocks
// are Δ-partitions from now on.
func (w *World) heal(f *fault.Fault) {
	w.endFaults()
	w.stable = true
	up := w.all()
	for _, n := range w.nodes[:w.opt.Nodes] {
		if !n.proc.Up && (!n.held && f.Down.Has(n.proc.ID) && up.Len() > 1 || w.admin != nil && w.admin.banned(n)) {
			n.staysDown = true
			up.Remove(n.proc.ID)
		}
	}
	rejoin := len(w.nodes) > w.opt.Nodes
	for _, n := range w.nodes {
		if n.proc.Index >= w.opt.Nodes {
			w.crash(n)
			continue
		}
		// Peers remember a broken clock or a rival until the incarnation ends: the node might
		// stop because of a rival that has ended. An incarnation that is held back starts
		// again too.
		if n.clockBroken || n.held || w.check.UsedTwice(n.proc.ID) || w.leaving(n) {
			w.crash(n)
		}
		if n.clockBroken {
			w.replaceClock(n)
		}
		if !n.staysDown {
			w.restart(n)
		}
		rejoin = rejoin || n.proc.Upset || n.held || w.now-n.restarted < int64(w.bounds.Rejoin) ||
			n.listed > 0 && w.now-n.listed < int64(w.bounds.Rejoin)
	}
	w.check.Live.Begin(partition(f.Blocks, up), rejoin)
}

// partition splits a set into blocks. Nodes that are in no block are alone.
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

// endFaults ends all faults of links and processes.
func (w *World) endFaults() {
	w.running = w.running[:0]
	w.applyFaults()
	for _, n := range w.nodes {
		if n.stalledUntil > w.now {
			n.stalledUntil = w.now
			w.recordStall(n, "")
			w.depart(n)
			w.rearm(n)
			if len(n.socket) > 0 {
				w.schedule(w.now+n.jitter(w), eventSocketReady, n.proc.Index, 0)
			}
		}
	}
	if w.cast != nil {
		for _, n := range w.nodes {
			w.consumeAgain(n)
		}
	}
}

// all returns the ids of the world.
func (w *World) all() (s timed.Set) {
	for _, n := range w.nodes {
		s.Add(n.proc.ID)
	}
	return s
}
