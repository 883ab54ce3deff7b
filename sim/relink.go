package sim

import (
	"github.com/failaware/failaware/sim/internal/hardware"
	"github.com/failaware/failaware/timed"
)

// relink gives every link and process the state that the faults under way make:
// where they overlap, they add up, or the later one counts. It starts from the
// weather each time, so that no fault can leave anything behind.
func (w *World) relink() {
	w.changes++
	for i := range w.links {
		for j := range w.links[i] {
			l := &w.links[i][j]
			*l = link{min: int64(w.weather.MinDelay), max: int64(w.weather.MaxDelay), dropNext: l.dropNext, dropAll: l.dropAll,
				rare: rare{bursting: l.rare.bursting}}
		}
	}
	for _, n := range w.nodes {
		n.slow, n.sendErrors = int64(w.weather.Lateness), 0
	}
	for _, i := range w.running {
		f := &w.faults[i]
		switch s := faultShapes[f.Kind]; {
		case s.link:
			w.eachLink(f, func(l *link) { l.suffer(f) })
		case s.blocks:
			w.divide(f.Blocks, int64(f.Extra))
		case f.Kind == Mute, f.Kind == Deaf:
			w.silence(f)
		case f.Kind == SlowProcess:
			n := w.node(f.Node)
			n.slow = max(n.slow, int64(f.Extra))
		case f.Kind == SocketError:
			w.node(f.Node).sendErrors = f.Rate
		}
	}
}

// relinks reports whether faults of a kind change links, or how processes act, or
// bring new ones.
func (k FaultKind) relinks() bool {
	switch k {
	case Mute, Deaf, SlowProcess, SocketError, Rival, Clone:
		return true
	}
	s := faultShapes[k]
	return s.link || s.blocks
}

// eachLink calls do for the links that a fault names.
func (w *World) eachLink(f *Fault, do func(*link)) {
	for i, n := range w.nodes {
		for j, m := range w.nodes {
			if f.Node == 0 || f.Node == n.id && f.Peer == m.id {
				do(&w.links[i][j])
			}
		}
	}
}

// suffer adds a fault to a link.
func (l *link) suffer(f *Fault) {
	at := origin + int64(f.At)
	r := &l.rare
	was := *r
	switch f.Kind {
	case Loss:
		l.loss, r.burst = f.Rate, float64(f.Size)
	case Late:
		l.late, l.lateMax = f.Rate, int64(f.Extra)
	case Tail:
		r.tail, r.index = float64(f.Extra), f.Rate
	case Reorder:
		r.reorder = f.Rate
	case Duplicate:
		l.twice = f.Rate
	case Replay:
		l.replay, l.again = f.Rate, int64(f.Extra)
	case Slow:
		l.slow += int64(f.Extra)
	case Clog:
		r.clogUntil = hardware.Forever
		if f.For > 0 {
			r.clogUntil = at + int64(f.For)
		}
	case Cut:
		l.cut = true
	case Flap:
		r.flap, r.since = int64(f.Extra), at
	case BlackHole:
		r.mtu = f.Size
	case Corrupt:
		r.corrupt = f.Rate
	case Truncate:
		r.truncate = f.Rate
	case Forge:
		r.forge = f.Rate
	case Foreign:
		r.foreign = f.Rate
	}
	l.odd = l.odd || *r != was
}

// divide separates nodes that no block has in common: by cutting the links
// between them or, with slow > 0, by making every message take so much longer.
func (w *World) divide(blocks []timed.Set, slow int64) {
	if len(blocks) == 0 {
		return
	}
	for i, n := range w.nodes {
		for j, m := range w.nodes {
			together := i == j
			for _, b := range blocks {
				together = together || b.Has(n.id) && b.Has(m.id)
			}
			switch l := &w.links[i][j]; {
			case together:
			case slow > 0:
				l.slow += slow
			default:
				l.cut = true
			}
		}
	}
}

func (w *World) silence(f *Fault) {
	for i, n := range w.nodes {
		for j, m := range w.nodes {
			if f.Kind == Mute && n.id == f.Node || f.Kind == Deaf && m.id == f.Node {
				w.links[i][j].cut = true
			}
		}
	}
}
