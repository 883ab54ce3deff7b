package demo

import (
	"context"
	"fmt"
	"time"

	"github.com/failaware/failaware"
)

// Pair is one direction between two nodes.
type Pair struct{ From, To failaware.NodeID }

// Both returns both directions of each pair of the nodes.
func Both(nodes failaware.Set) (pairs []Pair) {
	for a := range nodes.All() {
		for b := range nodes.Without(a).All() {
			pairs = append(pairs, Pair{a, b})
		}
	}
	return pairs
}

// across returns both directions between each node of the one set and each of
// the other.
func across(some, others failaware.Set) (pairs []Pair) {
	for a := range some.All() {
		for b := range others.Without(a).All() {
			pairs = append(pairs, Pair{a, b}, Pair{b, a})
		}
	}
	return pairs
}

// Cut cuts links, or mends them.
func (w *World) Cut(cut bool, pairs ...Pair) {
	w.busy.act()
	for _, p := range pairs {
		w.relay.Cut(p.From, p.To, cut)
	}
}

// Slow slows links down to more than the limit of a fast message, or restores them.
func (w *World) Slow(slow bool, pairs ...Pair) {
	w.busy.act()
	for _, p := range pairs {
		w.relay.Slow(p.From, p.To, w.slowness(slow))
	}
}

// slowness is the delay that a slow link adds. It is well above Δ, so that even a
// message whose delay the receiver knows to the microsecond counts as slow.
func (w *World) slowness(slow bool) time.Duration {
	if !slow {
		return 0
	}
	return 3 * w.timing.FastThreshold
}

// Heal mends all links.
func (w *World) Heal() {
	w.Cut(false, Both(w.All())...)
	w.Slow(false, Both(w.All())...)
}

// Pause stops a node as SIGSTOP would: it neither reads nor writes, and its clock
// continues. Packets for it fill its socket's buffer. It returns false when the node
// does not run or is paused already.
func (w *World) Pause(id failaware.NodeID) bool {
	w.doing.Lock()
	defer w.doing.Unlock()
	l := w.lifeOf(id)
	if l == nil || !w.setPaused(id, true) {
		return false
	}
	l.gate.Shut(l.node.Done())
	return true
}

// Resume continues a paused node, as SIGCONT would.
func (w *World) Resume(id failaware.NodeID) bool {
	w.doing.Lock()
	defer w.doing.Unlock()
	l := w.lifeOf(id)
	if l == nil || !w.setPaused(id, false) {
		return false
	}
	l.gate.Open()
	return true
}

func (w *World) setPaused(id failaware.NodeID, paused bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	m := w.members[id-1]
	if m.paused == paused {
		return false
	}
	m.paused, m.since = paused, time.Now()
	w.busy.act()
	return true
}

// Crash ends a node as SIGKILL would, without a last packet, if it runs.
func (w *World) Crash(id failaware.NodeID) {
	w.doing.Lock()
	defer w.doing.Unlock()
	if l := w.vacate(id); l != nil {
		w.busy.act()
		l.kill()
	}
}

// Resign asks a leading node to hand over.
func (w *World) Resign(id failaware.NodeID) error {
	n := w.Node(id)
	if n == nil {
		return fmt.Errorf("node %v does not run", id)
	}
	w.busy.act()
	ctx, cancel := context.WithTimeout(w.ctx, time.Second)
	defer cancel()
	return n.Resign(ctx)
}

// Note records an action of the user.
func (w *World) Note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	w.journal.note(time.Since(w.began), text)
	w.history.add(happening{at: time.Now(), fault: text})
}
