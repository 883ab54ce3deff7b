package leader

import (
	"fmt"
	"time"

	"github.com/failaware/failaware/timed"
)

// Collation is when and how the replies to this node's requests are collated.
// Only the requester's settings matter: its request says all that voters must
// know. The zero Collation never collates.
type Collation struct {
	// Above is the group size above which replies are collated; 0: never. The
	// requester counts.
	Above int
	// Fanout is how many nodes each node of the tree answers for at most, the
	// requester included: MinFanout to MaxFanout.
	Fanout int
}

// Limits of [Collation.Fanout]. With one child each, the tree would be a chain.
const (
	MinFanout = 2
	MaxFanout = 64
)

// Validate names the field that is wrong. Above must leave room for a tree: a
// group in which all others are children of the requester has nothing to
// collate.
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

// Tree lays the nodes that are to answer a request together over a tree. The
// requester is the root, and the targets follow in the order of their ids, level
// by level. The zero Tree has nobody: all answer directly.
type Tree struct {
	Fanout uint8
	Target timed.Set
}

// Place is where a node stands in a tree.
type Place struct {
	// Parent is whom it answers; NoNode stands for the requester.
	Parent timed.NodeID
	// Below are the nodes that answer through it.
	Below timed.Set
	// Level counts from 1, the children of the requester, to Levels.
	Level, Levels int
}

// Place returns the place of a node; ok is false if it has none.
func (t *Tree) Place(id timed.NodeID) (p Place, ok bool) {
	if t.Fanout < MinFanout || !t.Target.Has(id) {
		return Place{}, false
	}
	k, n, own := int(t.Fanout), t.Target.Len(), t.Target.Rank(id)
	parent := own/k - 1
	p.Level, p.Levels = level(own, k), level(n-1, k)
	// Its descendants are a run of places in each level below, and the ids come
	// in the order of their places: one walk finds them all.
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

// level returns on which level a place is.
func level(place, k int) int {
	n := 1
	for place >= k {
		place = place/k - 1
		n++
	}
	return n
}

// collated is what a requester needs to know for the next tree.
type collated struct {
	silent timed.Set     // who left a round unanswered
	until  timed.Instant // for how long they have no place in a tree
	levels int           // of the tree of the round under way; 0: none
	hop    time.Duration // what a hop takes, the slowest of the last rounds; 0: not known
}

// tree returns the tree of the round that begins now. Only who has answered the
// round before has a place in it: a first election, for which everybody waits,
// waits for nobody's children, and who is new answers directly. Who kept silent
// lately has none either, nor had those for whom it did not speak: they answer
// directly until it is known who is not alive.
func (e *Election) tree(now timed.Instant, alive timed.Set) Tree {
	c := &e.collated
	c.levels = 0
	if now >= c.until {
		c.silent = timed.Set{}
	}
	if e.cfg.Collation.Above == 0 || alive.Len()+1 <= e.cfg.Collation.Above {
		return Tree{}
	}
	t := Tree{Fanout: uint8(e.cfg.Collation.Fanout), Target: alive.Intersect(e.replies.Union(e.refusals)).Minus(c.silent)}
	if t.Target.Len() <= e.cfg.Collation.Fanout {
		return Tree{} // all would be children of this node
	}
	// A tree that takes longer than a round would have its branches answer
	// directly every other time. Twice the usual is within the usual variation.
	levels := level(t.Target.Len()-1, e.cfg.Collation.Fanout)
	if c.hop == 0 || 2*c.hop*time.Duration(levels+1) > e.cfg.Timing.RoundTime() {
		return Tree{}
	}
	c.levels = levels
	return t
}

// hopMemory is over how many rounds the slowest one is forgotten, roughly.
const hopMemory = 16

// noteHops takes that all have answered a round, and thus how long the request and
// the hops of the answers took.
func (e *Election) noteHops(now timed.Instant) {
	c := &e.collated
	hops := time.Duration(max(c.levels, 1) + 1)
	c.hop = max(now.Sub(e.lastRequest)/hops, c.hop-c.hop/hopMemory)
}

// noteSilent takes who has not answered when a round was over.
func (e *Election) noteSilent(now timed.Instant, asked timed.Set) {
	if silent := asked.Minus(e.replies).Minus(e.refusals); !silent.Empty() {
		e.collated.silent = e.collated.silent.Union(silent)
		e.collated.until = now.Add(e.cfg.Timing.Expires)
	}
}

// NoteRelayed takes a reply that came by way of others, each of which heard the
// one before it fast. It reports whether the reply counted; [Election.Decide]
// then draws the conclusion for all that came together. received is when the
// last of the messages came: the request bounds how old the reply can be, and
// one that could be older than a round is no fast word.
func (e *Election) NoteRelayed(received timed.Instant, from timed.Incarnation, m Reply) bool {
	if !e.open || m.Number != e.lastRequest || received > e.alarm {
		return false
	}
	e.note(from, m)
	return true
}

// Decide decides the round under way after replies were noted.
func (e *Election) Decide(now timed.Instant, alive timed.Set, out []Effect) []Effect {
	if !e.open {
		return out
	}
	return e.check(now, alive, false, out)
}
