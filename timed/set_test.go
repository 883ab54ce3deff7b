package timed

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// elements lists a set that is kept as a map, in order.
func elements(m map[NodeID]bool) []NodeID {
	ids := []NodeID{}
	for id := range m {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// textOf writes a set as its text form should be.
func textOf(ids []NodeID) string {
	words := make([]string, len(ids))
	for i, id := range ids {
		words[i] = strconv.Itoa(int(id))
	}
	return "{" + strings.Join(words, " ") + "}"
}

func TestSetMatchesMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s Set
		m := map[NodeID]bool{}
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				id := NodeID(rapid.Uint8().Draw(t, "id"))
				require.True(t, id == NoNode || s.With(id).Has(id))
				if s.Add(id); id != NoNode {
					m[id] = true
				}
			},
			"remove": func(t *rapid.T) {
				id := NodeID(rapid.Uint8().Draw(t, "id"))
				require.False(t, s.Without(id).Has(id))
				s.Remove(id)
				delete(m, id)
			},
			"set algebra": func(t *rapid.T) {
				other := drawSet.Draw(t, "other")
				switch rapid.IntRange(0, 2).Draw(t, "operation") {
				case 0:
					s = s.Union(other)
					for id := range other.All() {
						m[id] = true
					}
				case 1:
					s = s.Minus(other)
					maps.DeleteFunc(m, func(id NodeID, _ bool) bool { return other.Has(id) })
				case 2:
					s = s.Intersect(other)
					maps.DeleteFunc(m, func(id NodeID, _ bool) bool { return !other.Has(id) })
				}
			},
			"": func(t *rapid.T) {
				want := elements(m)
				require.Equal(t, textOf(want), s.String())
				require.Equal(t, want, append([]NodeID{}, slices.Collect(s.All())...))
				slices.Reverse(want)
				require.Equal(t, SetOf(want...), s, "the order of insertion does not matter")
				slices.Reverse(want)
				require.Equal(t, len(want), s.Len())
				require.Equal(t, len(want) == 0, s.Empty())
				for i := range 256 {
					require.Equal(t, m[NodeID(i)], s.Has(NodeID(i)))
				}
				if len(want) > 0 {
					require.Equal(t, want[0], s.Min())
				} else {
					require.Equal(t, NoNode, s.Min())
				}
			},
		})
	})
}

var drawSet = rapid.Custom(func(t *rapid.T) Set {
	return SetOf(rapid.SliceOfN(rapid.Custom(func(t *rapid.T) NodeID { return NodeID(rapid.Uint8().Draw(t, "id")) }), 0, 40).Draw(t, "ids")...)
})

func TestSetAlgebraHoldsForEveryElement(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawSet.Draw(t, "a"), drawSet.Draw(t, "b")
		subset, intersects := true, false
		for i := range 256 {
			id := NodeID(i)
			require.Equal(t, a.Has(id) || b.Has(id), a.Union(b).Has(id))
			require.Equal(t, a.Has(id) && b.Has(id), a.Intersect(b).Has(id))
			require.Equal(t, a.Has(id) && !b.Has(id), a.Minus(b).Has(id))
			subset = subset && (!a.Has(id) || b.Has(id))
			intersects = intersects || a.Has(id) && b.Has(id)
		}
		require.Equal(t, subset, a.Subset(b))
		require.Equal(t, intersects, a.Intersects(b))
		require.Equal(t, a == b, a.Subset(b) && b.Subset(a))
	})
}

func TestNextWalksUpwardsFromAnyId(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSet.Draw(t, "set")
		for i := range 256 {
			want := NoNode
			for j := i + 1; j < 256 && want == NoNode; j++ {
				if s.Has(NodeID(j)) {
					want = NodeID(j)
				}
			}
			require.Equal(t, want, s.Next(NodeID(i)), "after %d in %v", i, s)
		}
	})
}

func TestRankCountsSmallerElements(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSet.Draw(t, "set")
		smaller := 0
		for i := range 256 {
			require.Equal(t, smaller, s.Rank(NodeID(i)), "of %d in %v", i, s)
			if s.Has(NodeID(i)) {
				smaller++
			}
		}
	})
}

func TestAllStopsEarly(t *testing.T) {
	var got []NodeID
	for id := range SetOf(200, 3, 64, 63, 255).All() {
		if got = append(got, id); len(got) == 3 {
			break
		}
	}
	require.Equal(t, []NodeID{3, 63, 64}, got)
}

func TestSetNeverContainsNoNode(t *testing.T) {
	require.True(t, SetOf(NoNode).Empty())
	s := SetOf(1, 128)
	s.Remove(NoNode)
	require.Equal(t, "{1 128}", s.String())
	require.Equal(t, "{}", Set{}.String())
}

func TestNodeIDsAreParsedStrictly(t *testing.T) {
	for _, text := range []string{"1", "255", "64"} {
		id, err := ParseNodeID(text)
		require.NoError(t, err)
		require.Equal(t, text, id.String())
	}
	for _, text := range []string{"", "0", "256", "-1", "1.0", "x", "99999999999999999999"} {
		_, err := ParseNodeID(text)
		require.Error(t, err, text)
	}
	require.Equal(t, "none", NoNode.String())
	require.Equal(t, "none", Incarnation{}.String())
	require.Equal(t, "0/0000000000000001", Incarnation{Boot: 1}.String())
	require.Equal(t, "7/00000000000000ff", Incarnation{7, 255}.String())
	require.False(t, Incarnation{7, 0}.Valid())
	require.True(t, Incarnation{7, 1}.Valid())
}

func TestSetWords(t *testing.T) {
	s := SetOf(1, 63, 64, 130, 255)
	require.Equal(t, [4]uint64{1<<1 | 1<<63, 1, 1 << 2, 1 << 63}, s.Words())
	require.Equal(t, s, SetOfWords(s.Words()))
	require.True(t, SetOfWords([4]uint64{1, 0, 0, 0}).Empty(), "no node has the id 0")
}
