package sim

import (
	"fmt"
	"time"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/sim/fault"
	"github.com/failaware/failaware/timed"
)

// New makes a world, at true time 0, with the processes of all nodes started.
// Its faults are those that the seed draws, unless the options are Calm, and
// those of the options. The error names the option that is wrong, or is a
// [*Violation] if the application breaks a promise or panics as it starts.
func New(seed uint64, opt Options) (*World, error) {
	opt = opt.withDefaults()
	if err := opt.Validate(); err != nil {
		return nil, err
	}
	w := newWorld(seed, opt)
	return w, w.err()
}

// Run lets d of true time pass. It may run past Options.Duration, after which no
// random fault strikes. The error is the [*Violation] that ended the run, if one
// did; no more time passes after that. Handlers, timers and invariants must not
// call it.
func (w *World) Run(d time.Duration) error {
	w.checkOutside("Run")
	w.advance(w.now + int64(clampDuration(d)))
	return w.err()
}

// RunUntil lets time pass until cond returns true, but at most d. It calls cond at the
// beginning and after the events of each instant. The error is the [*Violation] that ended
// the run, or says that cond did not become true in time. Handlers, timers and invariants
// must not call it.
func (w *World) RunUntil(d time.Duration, cond func() bool) error {
	w.checkOutside("RunUntil")
	for end := w.now + int64(clampDuration(d)); w.failed == nil && !cond(); {
		if w.now >= end {
			return fmt.Errorf("sim: seed %d: it did not come about within %v", w.seed, d)
		}
		next := end
		if len(w.queue.heap) > 0 {
			next = min(next, w.queue.heap[0].at)
		}
		if w.next < w.planned {
			next = min(next, origin+int64(w.faults[w.next].At))
		}
		w.advance(max(w.now, next))
	}
	return w.err()
}

func (w *World) err() error {
	if w.failed != nil {
		return w.failed
	}
	return nil
}

// Inject lets a fault begin now; its At is ignored. From a handler or timer it
// begins at the end of the turn: a process that injects its own crash still runs
// to the end of its function, but its later requests have no effect.
// The error says that no world with these options can have the fault, or that a Heal is
// under way, or is the [*Violation] that ended the run. Invariants must not call it.
func (w *World) Inject(f fault.Fault) error {
	w.checkMutable("Inject")
	f.At = w.Time()
	if err := w.opt.fits(&f); err != nil {
		return err
	}
	if len(w.faults) >= MaxFaults {
		return fmt.Errorf("sim: more than %d faults", MaxFaults)
	}
	if w.stable {
		return fmt.Errorf("sim: %s at %v: the world is held still", f.Kind, f.At)
	}
	w.faults = append(w.faults, f)
	w.submit(request{kind: requestFault, fault: int32(len(w.faults) - 1)})
	return w.err()
}

// Mend ends all faults of links and processes that are under way, and the option Preempted.
// Crashes, rivals and broken clocks last until their own end. Invariants must not call it.
func (w *World) Mend() {
	w.checkMutable("Mend")
	keep := w.running[:0:0]
	for _, i := range w.running {
		switch w.faults[i].Kind.Class() {
		case fault.ClassCrash, fault.ClassCrashAll, fault.ClassRival, fault.ClassClone, fault.ClassHeal, fault.ClassBrokenClock:
			keep = append(keep, i)
		}
	}
	w.endFaults()
	w.running = append(w.running, keep...)
	w.applyFaults()
	w.preempted = nil
}

// node returns the first process with an id, not a rival.
func (w *World) node(id timed.NodeID) *Node { return w.nodes[id-1] }

// Time returns the true time since the start of the run. No node knows it.
func (w *World) Time() time.Duration { return time.Duration(w.now - origin) }

// UTC returns the UTC of true time.
func (w *World) UTC() clocksync.Time { return w.utc(w.now) }

// Seed returns the seed of the world.
func (w *World) Seed() uint64 { return w.seed }

// Mode returns how the world's leaders are elected.
func (w *World) Mode() leader.Mode { return w.opt.Mode }

// Sometimes counts a situation that the application wants its tests to reach now
// and then. [Tally.Reached] has the sums of a campaign.
func (w *World) Sometimes(what string) {
	if w.reached == nil {
		w.reached = map[string]uint64{}
	}
	w.reached[what]++
	w.mixText(what)
}

// Result returns the result of the run so far.
func (w *World) Result() Result { return w.result() }

// Nodes returns the nodes in the order of their ids, and then the rivals. The slice is
// shared: callers must not change it.
func (w *World) Nodes() []*Node { return w.nodes }

// Node returns the node with an id. It panics if the world has none.
func (w *World) Node(id timed.NodeID) *Node {
	if id < 1 || int(id) > w.opt.Nodes {
		panic(fmt.Sprintf("sim: there is no node %d among %d", id, w.opt.Nodes))
	}
	return w.node(id)
}

// Leaders returns the nodes that lead now, by their own hardware clocks. Each logical
// partition has at most one.
func (w *World) Leaders() (s timed.Set) {
	for _, n := range w.nodes {
		if n.Leads() {
			s.Add(n.proc.ID)
		}
	}
	return s
}
