package lab

import (
	"fmt"
	"time"
)

// supportOnce is SO: support sets never meet, and every vote behind a lead is bound
// to the leader.
func supportOnce(v *observation) (bool, error) {
	for p := range v.leaders.all() {
		for q := v.leaders.next(p); q != 0; q = v.leaders.next(q) {
			if both := v.followers(p) & v.followers(q); both != 0 {
				return true, fmt.Errorf("%d and %d both lead with the support of %v", p, q, both.set())
			}
		}
		for q := range v.support[p].all() {
			// A voter that restarted has forgotten its vote, and votes for no other
			// process until that vote has ended, as was checked above.
			forgot := v.elected[q] == 0 && v.now-v.born[q] <= v.longest
			if e := v.elected[q]; v.up.has(q) && e != p && !forgot {
				return true, fmt.Errorf("%d leads with the support of %d, which supports %d", p, q, e)
			}
		}
	}
	return v.leaders != 0, nil
}

func leaderSupports(v *observation) (bool, error) {
	for p := range v.leaders.all() {
		if !v.followers(p).has(p) {
			return true, fmt.Errorf("%d leads without its own support", p)
		}
	}
	return v.leaders != 0, nil
}

func boundedInconsistency(v *observation) (bool, error) {
	tested := false
	for p := range v.leaders.all() {
		near := v.g.of(p) &^ bit(p)
		for q := range near.all() {
			if !v.connectedFor(p, q, v.bound) {
				continue
			}
			tested = true
			if v.elected[q] != p {
				return true, fmt.Errorf("%d leads, and %d, connected with it for %v, supports %d", p, q, v.now-v.joined[p][q], v.elected[q])
			}
		}
	}
	return tested, nil
}

// timeliness is T.
type timeliness struct {
	still time.Duration
	unled map[mask]time.Duration // since when; absent while it is led
}

func (t *timeliness) look(v *observation) (bool, error) {
	if t.unled == nil || t.still != v.still {
		t.unled, t.still = map[mask]time.Duration{}, v.still
		for _, b := range v.blocks {
			t.unled[b] = v.now
		}
	}
	tested := false
	for _, b := range v.blocks {
		since, open := t.unled[b]
		tested = tested || v.now-v.still >= v.bound
		if open && v.now-since > v.bound {
			return true, fmt.Errorf("the Δ-partition %v has no leader for %v", b.set(), v.now-since)
		}
		switch led := v.leaders&b != 0; {
		case led:
			delete(t.unled, b)
		case !open:
			t.unled[b] = v.now
		}
	}
	return tested, nil
}

func (t *timeliness) close(v *observation) (bool, error) { return t.look(v) }
