package quorum

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/failaware/failaware/timed"
)

// drawn is the text of a system and a plain rule for its quorums.
type drawn struct {
	text string
	rule func(timed.Set) bool
}

// most is the number of ids that systems are drawn from. It is small, so that
// tests can try every set.
const most = 6

var drawSet = rapid.Custom(func(t *rapid.T) timed.Set {
	return timed.SetOf(rapid.SliceOfNDistinct(rapid.Map(rapid.IntRange(1, most),
		func(i int) timed.NodeID { return timed.NodeID(i) }), 1, most, rapid.ID[timed.NodeID]).Draw(t, "ids")...)
})

// list formats a set in random order.
func list(t *rapid.T, s timed.Set) string {
	var ids []string
	for id := range s.All() {
		ids = append(ids, id.String())
	}
	return strings.Join(rapid.Permutation(ids).Draw(t, "order"), ",")
}

func lists(t *rapid.T, all []timed.Set) string {
	var parts []string
	for _, s := range all {
		parts = append(parts, list(t, s))
	}
	return strings.Join(parts, "/")
}

var drawMajority = rapid.Custom(func(t *rapid.T) drawn {
	m := drawSet.Draw(t, "members")
	return drawn{"majority:" + list(t, m), func(s timed.Set) bool {
		in, out := 0, 0
		for id := range m.All() {
			if s.Has(id) {
				in++
			} else {
				out++
			}
		}
		return in > out
	}}
})

var drawWeighted = rapid.Custom(func(t *rapid.T) drawn {
	weights := map[timed.NodeID]int{}
	var parts []string
	for id := range drawSet.Draw(t, "members").All() {
		weights[id] = rapid.OneOf(rapid.IntRange(1, 4), rapid.Just(65535)).Draw(t, "weight")
		parts = append(parts, fmt.Sprintf("%v=%d", id, weights[id]))
	}
	return drawn{"weighted:" + strings.Join(rapid.Permutation(parts).Draw(t, "order"), ","), func(s timed.Set) bool {
		balance := 0
		for id, w := range weights {
			if s.Has(id) {
				balance += w
			} else {
				balance -= w
			}
		}
		return balance > 0
	}}
})

var drawGrid = rapid.Custom(func(t *rapid.T) drawn {
	rows := make([]timed.Set, rapid.IntRange(1, 3).Draw(t, "rows"))
	for id := timed.NodeID(1); id <= most; id++ {
		rows[int(id)%len(rows)].Add(id)
	}
	return drawn{"grid:" + lists(t, rows), func(s timed.Set) bool {
		whole, touched := 0, 0
		for _, r := range rows {
			if r.Intersect(s) == r {
				whole++
			}
			if r.Intersect(s).Len() > 0 {
				touched++
			}
		}
		return whole > 0 && touched == len(rows)
	}}
})

var drawExplicit = rapid.Custom(func(t *rapid.T) drawn {
	all := rapid.SliceOfN(drawSet, 1, 5).Draw(t, "quorums")
	return drawn{"explicit:" + lists(t, all), func(s timed.Set) bool {
		for _, q := range all {
			if q.Intersect(s) == q {
				return true
			}
		}
		return false
	}}
})

var drawSystem = rapid.OneOf(drawMajority, drawWeighted, drawGrid, drawExplicit)

// every returns all sets of the drawn ids.
func every() (all []timed.Set) {
	for bits := range 1 << most {
		var s timed.Set
		for id := range most {
			if bits>>id&1 != 0 {
				s.Add(timed.NodeID(id + 1))
			}
		}
		all = append(all, s)
	}
	return all
}

// Quorums follow the rule, and Parse refuses exactly the systems with two
// disjoint quorums. Brute force checks both.
func TestQuorumsMatchBruteForce(t *testing.T) {
	accepted, refused := 0, 0
	all := every()
	matches := func(t *rapid.T) {
		d := drawSystem.Draw(t, "system")
		apart := false
		for i, a := range all {
			for _, b := range all[:i+1] {
				apart = apart || d.rule(a) && d.rule(b) && a.Intersect(b).Empty()
			}
		}
		s, err := Parse(d.text)
		if apart {
			refused++
			require.ErrorContains(t, err, "have no node in common", "%s", d.text)
			return
		}
		accepted++
		require.NoError(t, err, "%s", d.text)
		for _, a := range all {
			require.Equal(t, d.rule(a), s.IsQuorum(a), "%s: %v", d.text, a)
			require.Equal(t, s.IsQuorum(a), s.IsQuorum(a.With(200)), "%s: node 200 is not a member", d.text)
		}
	}
	rapid.Check(t, matches)
	if !testing.Short() { // which runs too few for these counts
		for range 20 { // one round of draws may have too few of a kind
			if accepted <= 20 || refused <= 3 {
				rapid.Check(t, matches)
			}
		}
		require.Greater(t, accepted, 20)
		require.Greater(t, refused, 3)
	}
}

// Equal systems have the same text and digest, and different systems do not.
func TestTextIsCanonical(t *testing.T) {
	for written, text := range map[string]string{
		"majority: 3, 1,2":               "majority:1,2,3",
		"weighted:3=1,1=2 ,2=01":         "weighted:1=2,2=1,3=1",
		" grid:6,5,4/2,1,3":              "grid:1,2,3/4,5,6",
		"grid:10,2/1":                    "grid:1/2,10",
		"explicit:3,2/1,2/1,3/3,2,1/2,1": "explicit:1,2/1,3/2,3",
	} {
		s, err := Parse(written)
		require.NoError(t, err)
		require.Equal(t, text, s.String(), "%q", written)
		again, err := Parse(text)
		require.NoError(t, err)
		require.Equal(t, text, again.String())
		require.Equal(t, s.Digest(), again.Digest())
		require.Equal(t, s.Members(), again.Members())
	}
	rapid.Check(t, func(t *rapid.T) {
		a, errA := Parse(drawSystem.Draw(t, "a").text)
		b, errB := Parse(drawSystem.Draw(t, "b").text)
		if errA == nil && errB == nil {
			require.Equal(t, a.String() == b.String(), a.Digest() == b.Digest(), "%v, %v", a, b)
			require.NotZero(t, a.Digest())
		}
	})
}

// Systems of different kinds with the same nodes have different digests: votes in one of them
// do not count in another.
// A system whose text could not be read again is refused.
func TestEveryTextCanBeRead(t *testing.T) {
	all := timed.Set{}
	for id := timed.NodeID(1); id != 0; id++ {
		all.Add(id)
	}
	var quorums []timed.Set
	for len(quorums) < MaxQuorums {
		quorums = append(quorums, all.Without(timed.NodeID(1+len(quorums)%250)).Without(timed.NodeID(251+len(quorums)/250)))
		s, err := Explicit(quorums...)
		if err != nil {
			require.ErrorContains(t, err, "the text of the list has 6")
			require.Greater(t, len(quorums), 60)
			return
		}
		again, err := Parse(s.String())
		require.NoError(t, err)
		require.Equal(t, s.String(), again.String())
	}
	require.Fail(t, "the longest list is taken")
}

func TestDigestsTellKindsApart(t *testing.T) {
	seen := map[uint64]string{}
	for _, text := range []string{"majority:1,2,3", "explicit:1,2,3", "grid:1,2,3", "weighted:1=1,2=1,3=1"} {
		s, err := Parse(text)
		require.NoError(t, err)
		require.Empty(t, seen[s.Digest()], text)
		seen[s.Digest()] = text
	}
}

func TestErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                             `"" is not like majority:1,2,3`,
		"most:1,2":                     `"most" is none of majority, weighted, grid and explicit`,
		"majority:":                    `node id "" is not a number from 1 to 255`,
		"majority:1,256":               `node id "256" is not a number from 1 to 255`,
		"majority:1,2,1":               `node 1 is listed twice in "1,2,1"`,
		"weighted:1,2":                 `"1" is not like 1=2`,
		"weighted:1=2,1=3":             "node 1 has two weights",
		"weighted:1=0":                 "the weight of node 1 is 0",
		"weighted:1=65536":             `the weight "65536" of node 1 is not a number from 1 to 65535`,
		"grid:1,2/2,3":                 "node 2 is in two rows of the grid",
		"weighted:x=1":                 `node id "x" is not a number`,
		"grid:1,2//3":                  `node id "" is not a number`,
		"explicit:1,2/x":               `node id "x" is not a number`,
		"explicit:1,2/3,4":             "the quorums {1 2} and {3 4} have no node in common",
		strings.Repeat("1", MaxText+1): "more than 65536",
		"explicit:" + strings.Repeat("1/", MaxQuorums) + "1": "the list has 1025 quorums, more than 1024",
	} {
		_, err := Parse(text)
		require.ErrorContains(t, err, want, "%.40s", text)
	}
	_, err := Majority(timed.Set{})
	require.Error(t, err)
	_, err = Weighted()
	require.Error(t, err)
	_, err = Weighted(Votes{Node: timed.NoNode, Weight: 1})
	require.Error(t, err)
	_, err = Grid()
	require.Error(t, err)
	_, err = Explicit(slices.Repeat([]timed.Set{timed.SetOf(1)}, MaxQuorums)...)
	require.NoError(t, err)
	_, err = Explicit(timed.SetOf(1), timed.Set{})
	require.ErrorContains(t, err, "is empty")
}

func TestIsQuorumDoesNotAllocate(t *testing.T) {
	for _, text := range []string{"majority:1,2,3", "weighted:1=2,2=1,3=1", "grid:1,2/3,4", "explicit:1,2/2,3/1,3"} {
		s, err := Parse(text)
		require.NoError(t, err)
		require.Zero(t, testing.AllocsPerRun(100, func() { s.IsQuorum(timed.SetOf(1, 2, 3)) }), text)
	}
}

// The text of a parsed system parses to an equal system.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"majority:1,2,3,4,5", "weighted:1=2,2=1,3=1", "grid:1,2,3/4,5,6", "explicit:1,2/2,3/1,3", "explicit:1/2"} {
		f.Add(text)
	}
	f.Add("explicit:1/1,2")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse(text)
		if err != nil {
			require.Nil(t, s)
			return
		}
		again, err := Parse(s.String())
		require.NoError(t, err)
		require.Equal(t, s, again)
		require.True(t, s.IsQuorum(s.Members()), "all together are a quorum")
		require.False(t, s.IsQuorum(timed.Set{}))
	})
}
