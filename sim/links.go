package sim

import (
	"github.com/failaware/failaware/sim/fault"
	"github.com/failaware/failaware/sim/internal/hardware"
	"github.com/failaware/failaware/sim/situation"
	"github.com/failaware/failaware/timed"
)

// applyFaults sets the state of every link and process to the effect of all faults
// under way. Where faults overlap they add up, or the later one counts. It starts from
// the baseline each time, so that faults that have ended leave nothing behind.
func (w *World) applyFaults() {
	w.changes++
	for i := range w.links {
		for j := range w.links[i] {
			l := &w.links[i][j]
			*l = link{min: int64(w.baseline.MinDelay), max: int64(w.baseline.MaxDelay), dropNext: l.dropNext, dropAll: l.dropAll,
				rare: rare{bursting: l.rare.bursting}}
		}
	}
	for _, n := range w.nodes {
		n.slow, n.sendErrors = int64(w.baseline.Lateness), 0
	}
	for _, i := range w.running {
		f := &w.faults[i]
		switch {
		case f.Kind.OfLinks():
			w.eachLink(func(from, to *Node) bool { return f.Node == 0 || f.Node == from.proc.ID && f.Peer == to.proc.ID },
				func(l *link) { l.apply(f) })
		case f.Kind == fault.Mute:
			w.eachLink(func(from, _ *Node) bool { return from.proc.ID == f.Node }, (*link).sever)
		case f.Kind == fault.Deaf:
			w.eachLink(func(_, to *Node) bool { return to.proc.ID == f.Node }, (*link).sever)
		case f.Kind.OfNetwork():
			w.divide(f.Blocks, int64(f.Extra))
		case f.Kind == fault.SlowProcess:
			n := w.node(f.Node)
			n.slow = max(n.slow, int64(f.Extra))
		case f.Kind == fault.SocketError:
			w.node(f.Node).sendErrors = f.Rate
		}
	}
	for _, n := range w.nodes {
		w.list(n)
	}
}

// list updates the peer list of a node: all other nodes, except those that faults have
// removed.
func (w *World) list(n *Node) {
	var off timed.Set
	for _, i := range w.running {
		if f := &w.faults[i]; f.Kind == fault.Unlist && (f.Node == 0 || f.Node == n.proc.ID) {
			if off.Add(f.Peer); f.Peer == 0 {
				off = w.all()
			}
		}
	}
	if off = off.Without(n.proc.ID); off == n.unlisted {
		return
	}
	before := n.unlisted
	n.unlisted, n.listed = off, w.now
	if !n.hasStack() {
		return
	}
	for id := range off.Minus(before).All() {
		n.proc.Stack.RemovePeer(n.tick(w.now), id)
	}
	for id := range before.Minus(off).All() {
		n.proc.Stack.AddPeer(n.tick(w.now), id)
		w.check.Sometimes(situation.PeerUnlisted)
	}
	w.arm(n, 0)
}

// changesLinks reports whether faults of a kind change links or the punctuality of
// processes, or add links.
func changesLinks(k fault.Kind) bool {
	switch k {
	case fault.SlowProcess, fault.SocketError, fault.Rival, fault.Clone:
		return true
	}
	return k.OfNetwork()
}

// eachLink calls do for the links between nodes that match.
func (w *World) eachLink(match func(from, to *Node) bool, do func(*link)) {
	for i, from := range w.nodes {
		for j, to := range w.nodes {
			if match(from, to) {
				do(&w.links[i][j])
			}
		}
	}
}

// divide separates nodes that have no block in common. It cuts the links between them or,
// with slow > 0, delays every message by that much.
func (w *World) divide(blocks []timed.Set, slow int64) {
	if len(blocks) == 0 {
		return
	}
	apart := func(from, to *Node) bool {
		for _, b := range blocks {
			if b.Has(from.proc.ID) && b.Has(to.proc.ID) {
				return false
			}
		}
		return from != to
	}
	w.eachLink(apart, func(l *link) {
		if slow > 0 {
			l.slow += slow
		} else {
			l.sever()
		}
	})
}

func (l *link) sever() { l.cut = true }

// apply adds a fault to a link.
func (l *link) apply(f *fault.Fault) {
	at := origin + int64(f.At)
	r := &l.rare
	before := *r
	switch f.Kind {
	case fault.Loss:
		l.loss, r.burst = f.Rate, float64(f.Size)
	case fault.Late:
		l.late, l.lateMax = f.Rate, int64(f.Extra)
	case fault.Tail:
		r.tail, r.index = float64(f.Extra), f.Rate
	case fault.Reorder:
		r.reorder = f.Rate
	case fault.Duplicate:
		l.twice = f.Rate
	case fault.Replay:
		l.replay, l.again = f.Rate, int64(f.Extra)
	case fault.Slow:
		l.slow += int64(f.Extra)
	case fault.Clog:
		r.clogUntil = hardware.Forever
		if f.For > 0 {
			r.clogUntil = at + int64(f.For)
		}
	case fault.Cut:
		l.sever()
	case fault.Flap:
		r.flap, r.since = int64(f.Extra), at
	case fault.BlackHole:
		r.mtu = f.Size
	case fault.Corrupt:
		r.corrupt = f.Rate
	case fault.Damage:
		r.damage = f.Rate
	case fault.Truncate:
		r.truncate = f.Rate
	case fault.Forge:
		r.forge = f.Rate
	case fault.Foreign:
		r.foreign = f.Rate
	}
	l.odd = l.odd || *r != before
}
