package leader

import (
	"fmt"
	"time"

	"github.com/failaware/failaware/timed"
)

// Collation configures whether and how the replies to this node's requests are
// collated. Only the requester's settings matter, because a request tells voters all
// they need. The zero Collation never collates.
type Collation struct {
	// Above is the group size, including the requester, above which replies are
	// collated; 0 means never.
	Above int
	// Fanout is the limit of children of each node of the tree, including the
	// requester: MinFanout to MaxFanout.
	Fanout int
}

// Limits of [Collation.Fanout]. With one child for each node, the tree would be a
// chain.
const (
	MinFanout = 2
	MaxFanout = 64
)

// Validate returns an error that names the wrong field. Above must leave room for a
// tree: if all other nodes are children of the requester there is nothing to collate.
func (c Collation) Validate() error {
	switch {
	case c == Collation{}:
		return nil
	case c.Fanout < MinFanout || c.Fanout > MaxFanout:
		return fmt.Errorf("CollateFanout: %d is outside [%d, %d]", c.Fanout, MinFanout, MaxFanout)
	case c.Above == 0:
		return nil
	case c.Above <= c.Fanout || c.Above >= timed.MaxNodes:
		return fmt.Errorf("CollateAbove: %d is neither 0 nor in [%d, %d]: above CollateFanout, and below the largest group",
			c.Above, c.Fanout+1, timed.MaxNodes-1)
	}
	return nil
}

// Tree arranges the nodes that answer a request together. The requester is the root,
// and the targets follow in the order of their ids, level by level. With the zero Tree
// all nodes answer directly.
type Tree struct {
	Fanout uint8
	Target timed.Set
}

// Place is the place of a node in a tree.
type Place struct {
	// Parent is the node that it answers; NoNode means the requester.
	Parent timed.NodeID
	// Below is the set of nodes that answer through it.
	Below timed.Set
	// Level counts from 1, for the children of the requester, to Levels.
	Level, Levels int
}

// Place returns the place of a node; ok is false if the node is not in the tree.
func (t *Tree) Place(id timed.NodeID) (p Place, ok bool) {
	if t.Fanout < MinFanout || !t.Target.Has(id) {
		return Place{}, false
	}
	k, n, own := int(t.Fanout), t.Target.Len(), t.Target.Rank(id)
	parent := own/k - 1
	p.Level, p.Levels = level(own, k), level(n-1, k)
	// The descendants are a run of places in each level below, and ids come in the
	// order of places, so one walk finds them all.
	first, last := k*(own+1), k*(own+1)+k-1
	place := 0
	for other := t.Target.Next(0); other != 0; other = t.Target.Next(other) {
		if place == parent {
			p.Parent = other
		}
		if place > last {
			first, last = k*(first+1), k*(last+1)+k-1
		}
		if place >= first && place <= last {
			p.Below.Add(other)
		}
		place++
	}
	return p, true
}

// level returns the level of a place.
func level(place, k int) int {
	n := 1
	for place >= k {
		place = place/k - 1
		n++
	}
	return n
}

// collated is a requester's memory for the next tree.
type collated struct {
	silent timed.Set     // nodes that left a round unanswered
	until  timed.Instant // until then they have no place in a tree
	levels int           // of the tree of the present round; 0: no tree
	hop    time.Duration // the slowest hop of the last rounds; 0: unknown
}

// tree returns the tree of the round that begins now. Only nodes that answered the
// last round have a place in it. So a first election, which all nodes wait for, has no
// tree, and a new node answers directly. A node that kept silent lately has no place
// either, nor have its descendants: they answer directly until the alive set tells
// which of them failed.
func (e *Election) tree(now timed.Instant) Tree {
	c := &e.collated
	c.levels = 0
	if now >= c.until {
		c.silent = timed.Set{}
	}
	if e.cfg.Collation.Above == 0 || e.alive.Len()+1 <= e.cfg.Collation.Above {
		return Tree{}
	}
	t := Tree{Fanout: uint8(e.cfg.Collation.Fanout), Target: e.alive.Intersect(e.replies.Union(e.refusals)).Minus(c.silent)}
	if t.Target.Len() <= e.cfg.Collation.Fanout {
		return Tree{} // all nodes would be children of this node
	}
	// If a tree took longer than a round, its branches would answer directly every
	// other time. A hop of twice the usual duration is not rare.
	levels := level(t.Target.Len()-1, e.cfg.Collation.Fanout)
	if c.hop == 0 || 2*c.hop*time.Duration(levels+1) > e.cfg.Timing.RoundTime() {
		return Tree{}
	}
	c.levels = levels
	return t
}

// hopMemory is about the number of rounds in which the slowest hop is forgotten.
const hopMemory = 16

// noteHops records the duration of a complete round: that of the request and of the
// hops of the answers.
func (e *Election) noteHops(now timed.Instant) {
	c := &e.collated
	hops := time.Duration(max(c.levels, 1) + 1)
	c.hop = max(now.Sub(e.lastRequest)/hops, c.hop-c.hop/hopMemory)
}

// noteSilent records the nodes that have not answered at the end of a round. They get a
// place again once a parent that they do not hear is no longer alive to them.
func (e *Election) noteSilent(now timed.Instant, asked timed.Set) {
	if silent := asked.Minus(e.replies).Minus(e.refusals); !silent.Empty() {
		e.collated.silent = e.collated.silent.Union(silent)
		e.collated.until = now.Add(e.cfg.Timing.WordLasts() + e.cfg.Timing.Expires)
	}
}

// HandleRelayed takes a reply that other nodes passed on, always by fast packets. Its
// effect is Counted if the reply counts. After the replies that came together,
// [Election.Decide] decides the round. received is when the last packet came. The reply is
// no older than the request, and one that may be older than a round is not fast.
func (e *Election) HandleRelayed(received timed.Instant, from timed.Incarnation, m Reply, out []Effect) []Effect {
	if !e.open || m.Number != e.lastRequest || received > e.alarm {
		return out
	}
	return e.note(from, m, out)
}

// Decide decides the present round after relayed replies.
func (e *Election) Decide(now timed.Instant, out []Effect) []Effect {
	if !e.open {
		return out
	}
	return e.check(now, false, out)
}
