package lab

import (
	"iter"
	"math/bits"
	"slices"

	"github.com/failaware/failaware/sim"
	"github.com/failaware/failaware/sim/internal/clique"
	"github.com/failaware/failaware/timed"
)

// MaxProcesses is how many processes a run of the laboratory has at most.
const MaxProcesses = 64

// mask is a set of processes: bit i stands for id i+1.
type mask uint64

func bit(id timed.NodeID) mask { return 1 << (id - 1) }

func (m mask) has(id timed.NodeID) bool { return m>>(id-1)&1 == 1 }

func (m mask) len() int { return bits.OnesCount64(uint64(m)) }

// next returns the smallest member above id, or 0.
func (m mask) next(id timed.NodeID) timed.NodeID {
	rest := m >> id
	if rest == 0 || id >= MaxProcesses {
		return 0
	}
	return id + 1 + timed.NodeID(bits.TrailingZeros64(uint64(rest)))
}

// all yields the members in ascending order.
func (m mask) all() iter.Seq[timed.NodeID] {
	return func(yield func(timed.NodeID) bool) {
		for id := m.next(0); id != 0; id = m.next(id) {
			if !yield(id) {
				return
			}
		}
	}
}

func (m mask) set() (s timed.Set) {
	for id := range m.all() {
		s.Add(id)
	}
	return s
}

func maskOf(s timed.Set) (m mask) {
	for id := range s.All() {
		m |= bit(id)
	}
	return m
}

// graph has the connections between processes at an instant of true time. Row i is of
// id i+1, and holds the process itself if it runs.
type graph struct {
	up        mask
	connected [MaxProcesses]mask // within δ, both ways
	touching  [MaxProcesses]mask // something may arrive, one way at least
	near      [MaxProcesses]mask // something may arrive within Δ
}

func graphOf(w *sim.World, n int, delta timed.Timing) (g graph) {
	for i := range n {
		p := timed.NodeID(i + 1)
		if !w.Node(p).Up() {
			continue
		}
		g.up |= bit(p)
		g.touching[i], g.near[i] = bit(p), bit(p)
		for j := range n {
			q := timed.NodeID(j + 1)
			if w.Connected(p, q) {
				g.connected[i] |= bit(q)
			}
			if p != q && !w.Disconnected(p, q, 0) {
				g.touching[i] |= bit(q)
			}
			if p != q && !w.Disconnected(p, q, delta.FastThreshold) {
				g.near[i] |= bit(q)
			}
		}
	}
	return g
}

func (g *graph) of(id timed.NodeID) mask { return g.connected[id-1] }

// joined reports whether two different processes are connected.
func (g *graph) joined(p, q timed.NodeID) bool { return g.connected[p-1].has(q) }

// crisp reports whether every two running processes are either connected or
// disconnected, as a stable system is.
func (g *graph) crisp() bool { return g.connected == g.touching }

// whole reports whether all running processes are connected with each other.
func (g *graph) whole() bool {
	for id := range g.up.all() {
		if g.of(id) != g.up {
			return false
		}
	}
	return g.up != 0
}

// reach returns all that are connected with a process directly or over others.
func (g *graph) reach(id timed.NodeID) mask {
	all := bit(id)
	for todo := all; todo != 0; {
		p := todo.next(0)
		todo &^= bit(p)
		fresh := g.of(p) &^ all
		all |= fresh
		todo |= fresh
	}
	return all
}

// partitions returns the Δ-partitions: sets of processes connected with each
// other, and Δ-disconnected from all others.
func (g *graph) partitions() (out []mask) {
	for id := range g.up.all() {
		s := g.of(id)
		if !s.has(id) || s.next(0) != id {
			continue
		}
		good := true
		for q := range s.all() {
			good = good && g.of(q) == s && g.near[q-1] == s
		}
		if good {
			out = append(out, s)
		}
	}
	return out
}

// cliques returns the maximal cliques of the running processes (Bron and
// Kerbosch, with a pivot).
func (g *graph) cliques() (out []mask) {
	var grow func(r, p, x mask)
	grow = func(r, p, x mask) {
		if p == 0 {
			if x == 0 && r != 0 {
				out = append(out, r)
			}
			return
		}
		pivot := (p | x).next(0)
		for id := (p &^ (g.of(pivot) &^ bit(pivot))).next(0); id != 0; id = (p &^ (g.of(pivot) &^ bit(pivot))).next(id) {
			around := g.of(id) &^ bit(id)
			grow(r|bit(id), p&around, x&around)
			p &^= bit(id)
			x |= bit(id)
		}
	}
	var timely mask
	for id := range g.up.all() {
		timely |= g.of(id) & bit(id)
	}
	grow(0, timely, 0)
	return out
}

// cover returns the size of a minimum clique cover of the running processes; 0 if there
// are too many.
func (g *graph) cover() int {
	if g.up.len() > clique.MaxNodes {
		return 0
	}
	ids := slices.Collect(g.up.all())
	rows := make([]uint32, len(ids))
	for i, p := range ids {
		for j, q := range ids {
			if g.joined(p, q) {
				rows[i] |= 1 << j
			}
		}
	}
	return clique.Cover(rows)
}
