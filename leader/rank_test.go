package leader

import (
	"cmp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/failaware/failaware/timed"
)

// contender is another node's knowledge of a node.
type contender struct {
	id timed.NodeID
	State
}

func (c *contender) rank(by RankBy) rank { return by.rank(c.id, c.Leading, c.Support, c.Weight) }

// drawState prefers small numbers, so that ties are frequent. A packet may contain any
// state, such as the support of a node that does not lead.
var drawState = rapid.Custom(func(t *rapid.T) State {
	return State{Contender: true, Leading: rapid.Bool().Draw(t, "leads"),
		Weight: uint16(rapid.IntRange(0, 2).Draw(t, "weight")), Support: uint8(rapid.IntRange(1, 3).Draw(t, "support"))}
})

// drawContenders draws nodes with distinct ids.
var drawContenders = rapid.Custom(func(t *rapid.T) []contender {
	ids := rapid.SliceOfNDistinct(rapid.Uint8Range(1, 255), 1, 8, rapid.ID[uint8]).Draw(t, "ids")
	all := make([]contender, len(ids))
	for i, id := range ids {
		all[i] = contender{timed.NodeID(id), drawState.Draw(t, "state")}
	}
	return all
})

var drawRanking = rapid.SampledFrom([]RankBy{Stable, ByID})

// byRule compares by the words of docs/internals/protocol.md. A negative result means that a
// comes first.
func byRule(by RankBy, a, b contender) int {
	size := func(c contender) int {
		if by == ByID || !c.Leading {
			return -1
		}
		return int(c.Support)
	}
	return cmp.Or(cmp.Compare(size(b), size(a)), cmp.Compare(b.Weight, a.Weight), cmp.Compare(a.id, b.id))
}

// Of two nodes exactly one outranks the other, and always by the rule: an order by a
// key is total and transitive.
func TestRankIsATotalOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		by, all := drawRanking.Draw(t, "rank"), drawContenders.Draw(t, "contenders")
		for _, a := range all {
			for _, b := range all {
				require.Equal(t, byRule(by, a, b) < 0, a.rank(by) > b.rank(by), "%v: %+v, %+v", by, a, b)
			}
		}
	})
}

// Nodes that hear each other and have the same knowledge agree on the first: exactly
// one of them is not outranked, and all others prefer it.
func TestAllAgreeOnTheHighestRank(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		by, all := drawRanking.Draw(t, "rank"), drawContenders.Draw(t, "contenders")
		mode := rapid.SampledFrom([]Mode{Available, Strict}).Draw(t, "mode")
		var everybody timed.Set
		for _, c := range all {
			everybody.Add(c.id)
		}
		first := slices.MinFunc(all, func(a, b contender) int { return byRule(by, a, b) }).id
		for _, me := range all {
			e := New(Config{Self: incarnation(me.id), Timing: timed.LAN(), Mode: mode, RankBy: by, Weight: me.Weight}, start)
			if e.leading = me.Leading; e.leading {
				for id := timed.NodeID(1); e.support.Len() < int(me.Support); id++ {
					e.support.Add(id)
				}
			}
			for _, c := range all {
				if c.id != me.id {
					e.NoteState(start, incarnation(c.id), &c.State)
				}
			}
			others := everybody.Without(me.id)
			e.SetAlive(start, others)
			require.Equal(t, me.id != first, e.outranked(), "node %v, first %v", me.id, first)
			if me.id != first {
				require.Equal(t, first, e.best(), "for node %v", me.id)
			}
		}
	})
}
