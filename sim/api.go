package sim

import (
	"fmt"
	"time"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// New makes a world. Its faults are those that the seed draws, unless the
// options are Calm, and those of the options. The error names the option that
// is wrong.
func New(seed uint64, opt Options) (*World, error) {
	opt = opt.withDefaults()
	if err := opt.Validate(); err != nil {
		return nil, err
	}
	return newWorld(seed, opt), nil
}

// Run lets d of true time pass. It returns the [Violation] that ended the run,
// if one did; then the world does not go on.
func (w *World) Run(d time.Duration) error {
	w.runUntil(w.now + int64(d))
	return w.err()
}

// RunUntil lets time pass until something is so, but at most d. It looks after
// every event, and returns an error if it did not come about.
func (w *World) RunUntil(d time.Duration, so func() bool) error {
	for end := w.now + int64(d); !so(); {
		if w.check.failed != nil {
			return w.err()
		}
		next := end
		if len(w.queue.heap) > 0 {
			next = min(next, w.queue.heap[0].at)
		}
		if w.next < w.planned {
			next = min(next, origin+int64(w.faults[w.next].At))
		}
		if !w.runUntil(max(w.now, next)) {
			return w.err()
		}
		if w.now >= end {
			if so() {
				return nil
			}
			return fmt.Errorf("sim: seed %d: it did not come about within %v", w.seed, d)
		}
	}
	return nil
}

func (w *World) err() error {
	if w.check.failed != nil {
		return w.check.failed
	}
	return nil
}

// Inject lets a fault begin now; its At is ignored. The error says what no world
// like this can do.
func (w *World) Inject(f Fault) error {
	f.At = w.Time()
	if err := f.Validate(w.opt.Nodes); err != nil {
		return err
	}
	if faultShapes[f.Kind].class == ClassBrokenClock && !w.opt.BrokenClocks {
		return fmt.Errorf("sim: %s: needs the option BrokenClocks", f.Kind)
	}
	if c := faultShapes[f.Kind].class; w.cast == nil && (c == ClassBurst || c == ClassSlowConsumer) {
		return fmt.Errorf("sim: %s: needs the option Broadcast", f.Kind)
	}
	if len(w.faults) >= MaxFaults {
		return fmt.Errorf("sim: more than %d faults", MaxFaults)
	}
	w.faults = append(w.faults, f)
	w.perform(int32(len(w.faults) - 1))
	return nil
}

// Mend ends all faults of links and processes that are under way; crashed
// processes stay down until their own end.
func (w *World) Mend() {
	keep := w.running[:0:0]
	for _, i := range w.running {
		switch faultShapes[w.faults[i].Kind].class {
		case ClassCrash, ClassCrashAll, ClassRival, ClassHeal, ClassBrokenClock:
			keep = append(keep, i)
		}
	}
	w.calm()
	w.running = append(w.running, keep...)
	w.relink()
}

// Time returns the true time since the start of the run. No node knows it.
func (w *World) Time() time.Duration { return time.Duration(w.now - origin) }

// Result returns what the run has come to so far.
func (w *World) Result() Result { return w.result() }

// Nodes returns the nodes in the order of their ids, rivals after all others.
// The slice is shared: it is not to be changed.
func (w *World) Nodes() []*Node { return w.nodes }

// Node returns the node with an id.
func (w *World) Node(id timed.NodeID) *Node { return w.node(id) }

// ID returns the node's id.
func (n *Node) ID() timed.NodeID { return n.id }

// World returns the node's world.
func (n *Node) World() *World { return n.w }

// Up reports whether the process runs.
func (n *Node) Up() bool { return n.up }

// Incarnation returns the id with the boot id of the present incarnation.
func (n *Node) Incarnation() timed.Incarnation { return timed.Incarnation{Node: n.id, Boot: n.boot} }

// Instant reads the hardware clock.
func (n *Node) Instant() timed.Instant { return n.tick(n.w.now) }

// Leads reports whether the node leads, by its own hardware clock alone.
func (n *Node) Leads() bool { return n.up && !n.upset && n.st.Leads(n.Instant()) }

// Follows returns the leader that the node's vote is bound to, or 0.
func (n *Node) Follows() timed.NodeID {
	if !n.up {
		return timed.NoNode
	}
	to, _ := n.st.Election().Locked(n.Instant())
	return to.Node
}

// Support returns who voted for the node in the round that it won last.
func (n *Node) Support() timed.Set { return n.st.Election().Support() }

// View returns the view installed last, or nil, and whether it is up to date, by
// the hardware clock alone.
func (n *Node) View() (*membership.View, bool) {
	if !n.up {
		return nil, false
	}
	m := n.st.Membership()
	return m.View(), !n.upset && m.UpToDate(n.Instant())
}

// Alive returns the peers that are alive for the node.
func (n *Node) Alive() timed.Set {
	if !n.up {
		return timed.Set{}
	}
	return n.st.Datagram().Alive(n.Instant())
}

// Clock reads group time.
func (n *Node) Clock() clocksync.Reading { return n.st.Clock().Read(n.Instant()) }

// Random returns a random number from the stream of applications: below n > 0.
func (n *Node) Random(below int64) int64 { return n.w.apps.below(below) }

// Send sends a message to another node's application. It leaves at the end of
// the turn, over the links that the platform's own packets use. The payload must
// not be changed afterwards.
func (n *Node) Send(to timed.NodeID, payload []byte) {
	n.mustFit(payload)
	if to != n.id && to >= 1 && int(to) <= n.w.opt.Nodes {
		n.w.app.says = append(n.w.app.says, say{n, to, payload})
	}
}

// Broadcast sends a message to the applications of all other nodes.
func (n *Node) Broadcast(payload []byte) {
	for i := range n.w.opt.Nodes {
		n.Send(timed.NodeID(i+1), payload)
	}
}

// After calls do after d on the node's hardware clock, unless the process ends
// before.
func (n *Node) After(d time.Duration, do func()) {
	w, a := n.w, &n.w.app
	due := n.Instant().Add(max(d, 0))
	var i int32
	if k := len(a.free); k > 0 {
		i, a.free = a.free[k-1], a.free[:k-1]
	} else if len(a.timers) >= MaxTimers {
		panic(fmt.Sprintf("sim: more than %d timers", MaxTimers))
	} else {
		a.timers, i = append(a.timers, appTimer{}), int32(len(a.timers))
	}
	a.timers[i] = appTimer{n: n, life: n.lives, due: due, do: do}
	w.schedule(max(w.now, n.clock.when(due))+n.jitter(w), timer, n.index, i)
}

// Resign has the node give up its lead; it reports whether it led.
func (n *Node) Resign() bool { return n.w.resign(n) }

// Mode returns how the world's leaders are elected.
func (w *World) Mode() leader.Mode { return w.opt.Mode }
