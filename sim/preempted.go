package sim

import (
	"github.com/failaware/failaware/internal/random"
	"github.com/failaware/failaware/internal/stack"
)

// preempted is the state of a world with the option Preempted. Its processes stop between the
// reading of the clock on which a turn rests and the moment at which its packets leave, as they
// do when the system runs another process or a disk is slow.
type preempted struct {
	rand random.Stream
	rate float64 // the share of turns that are stopped
}

// Situations of worlds with the option Preempted, as [World.Sometimes] counts them.
const (
	SaidLate  = "the packets of a turn left when it had been stopped"
	NeverSaid = "a process crashed between a turn and its packets"
)

// Bounds of how long turns are stopped, as shares of Expires.
const (
	shortestStop = 0.001
	longestStop  = 5
)

// newPreempted returns nil without the option Preempted.
func newPreempted(seed uint64, opt *Options) *preempted {
	if !opt.Preempted {
		return nil
	}
	p := &preempted{rand: random.New(seed, random.Preempted)}
	p.rate = p.rand.LogUniform(0.0005, 0.02)
	return p
}

// stopped is a packet of a stopped turn.
type stopped struct {
	effect  stack.Effect
	slot    int32
	payload []byte // of an application's message in it
}

// preempts draws for how long a turn of a process is stopped: 0, it is not.
func (w *World) preempts(n *Node) (late int64) {
	p := w.preempted
	if p == nil || w.stable || n.proc.Upset || !p.rand.Chance(p.rate) {
		return 0
	}
	return int64(p.rand.LogUniform(shortestStop, longestStop) * float64(w.opt.Timing.Expires))
}

// stop keeps a packet of a turn that is stopped.
func (w *World) stop(n *Node, e *stack.Effect, slot int32) {
	s := stopped{effect: *e, slot: slot}
	if w.payload != nil && e.Peer == w.payloadTo {
		s.payload, w.payload = w.payload, nil
	}
	w.slots[slot].detach() // from memory that the next turn uses again
	n.unsent = append(n.unsent, s)
}

// goOnAfter lets a process go on with a turn that has been stopped for a time.
func (w *World) goOnAfter(n *Node, late int64) {
	if len(n.unsent) == 0 {
		return
	}
	n.stalledUntil = max(n.stalledUntil, w.now+late)
	w.recordStall(n, "preempted")
	w.schedule(n.stalledUntil, eventDepart, n.proc.Index, 0)
}

// goOn ends the turn of a process, unless it has been stopped again.
func (w *World) goOn(n *Node) {
	if len(n.unsent) > 0 && n.stalledUntil > w.now {
		w.schedule(n.stalledUntil, eventDepart, n.proc.Index, 0)
		return
	}
	w.depart(n)
}

// depart sends the packets of a stopped turn.
func (w *World) depart(n *Node) {
	if len(n.unsent) == 0 {
		return
	}
	w.Sometimes(SaidLate)
	unsent := n.unsent
	n.unsent = nil
	stamp := n.tick(w.now)
	for i := range unsent {
		s := &unsent[i]
		w.slots[s.slot].packet.Header.Stamp = stamp
		w.payload, w.payloadTo = s.payload, s.effect.Peer
		w.send(n, &s.effect, s.slot)
		w.payload = nil
	}
	n.unsent = unsent[:0]
}

// dropStopped drops the packets of a stopped turn, whose process has ended.
func (w *World) dropStopped(n *Node) {
	if len(n.unsent) > 0 {
		w.Sometimes(NeverSaid)
	}
	for _, s := range n.unsent {
		w.drop(s.slot)
	}
	n.unsent = n.unsent[:0]
}
