package lab

import (
	"fmt"
	"time"

	"github.com/failaware/failaware/timed"
)

func assertion3(v *observation) (bool, error) {
	for p := range v.normal.all() {
		for q := v.normal.next(p); q != 0; q = v.normal.next(q) {
			if v.group[p] == v.group[q] && v.elected[p] != v.elected[q] {
				return true, fmt.Errorf("processes %d and %d are in group %v, led by %d and %d", p, q, v.group[p], v.elected[p], v.elected[q])
			}
		}
	}
	return true, nil
}

func assertion4(v *observation) (bool, error) {
	if !v.g.crisp() {
		return false, nil
	}
	for _, r := range v.g.cliques() {
		l := v.elected[r.next(0)]
		if l == 0 || !r.has(l) || !v.leaders.has(l) {
			return true, fmt.Errorf("no process of the clique %v leads it: process %d follows %d", r.set(), r.next(0), l)
		}
		for id := range r.all() {
			if !v.normal.has(id) || v.elected[id] != l || v.group[id] != v.group[l] {
				return true, fmt.Errorf("clique %v: process %d follows %d, and %d follows %d", r.set(), r.next(0), l, id, v.elected[id])
			}
		}
	}
	return true, nil
}

// assertion4Prime is Assertion 4'.
type assertion4Prime struct {
	still   time.Duration // the still time that was looked at last
	final   bool          // in it, the state was seen that is to remain
	elected [MaxProcesses + 1]timed.NodeID
	group   [MaxProcesses + 1]Group
}

func (p *assertion4Prime) look(v *observation) (bool, error) {
	if !v.stable() || !v.g.crisp() || v.least == 0 {
		return false, nil
	}
	if p.final && p.still == v.still && (p.elected != v.elected || p.group != v.group) {
		return true, fmt.Errorf("somebody changes its group %v after connectivity became still", v.now-v.still)
	}
	p.still, p.final, p.elected, p.group = v.still, true, v.elected, v.group
	groups := map[Group]bool{}
	for id := range v.up.all() {
		l := v.elected[id]
		switch {
		case !v.normal.has(id) || l == 0:
			return true, fmt.Errorf("process %d is in no group", id)
		case !v.up.has(l) || v.group[l] != v.group[id]:
			return true, fmt.Errorf("process %d follows %d, which is not in its group", id, l)
		case !v.g.reach(id).has(l):
			return true, fmt.Errorf("process %d follows %d, which it cannot reach", id, l)
		}
		groups[v.group[id]] = true
	}
	if len(groups) > v.least {
		return true, fmt.Errorf("%d groups, but %d cliques cover the graph", len(groups), v.least)
	}
	return true, nil
}

func (p *assertion4Prime) close(v *observation) (bool, error) { return p.look(v) }
