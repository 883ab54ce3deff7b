package kv

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// hashesTell plays lives that differ in one thing each: what was written, by whom, in which
// order, what was deleted or granted, and how far the clock is. Members that have applied
// different commands notice it by their hashes. Those with equal states have equal ones,
// whether they have applied commands or restored a snapshot.
func hashesTell(t testing.TB) {
	type life = []Command
	a, b := Command{Op: Put, Key: "a", Value: []byte("1")}, Command{Op: Put, Key: "b", Value: []byte("2")}
	gone, grant, tick := Command{Op: Delete, Key: "a"}, Command{Op: Grant, TTL: time.Minute}, Command{Op: Tick}
	a.Dot, b.Dot, gone.Dot, grant.Dot, tick.Dot = Dot{1, 1}, Dot{2, 1}, Dot{3, 1}, Dot{4, 1}, Dot{5, 1}
	other, later := a, tick
	other.Dot.Writer = 6
	tick.At, later.At = at(line(1), time.Hour, 0), at(line(1), 2*time.Hour, 0)
	for _, kind := range []Kind{Linearizable, Partitionable} {
		seen := map[uint64]life{}
		for _, l := range []life{{}, {a}, {other}, {b}, {a, b}, {b, a}, {a, gone}, {a, b, gone}, {b, a, gone}, {grant}, {a, grant}, {tick}, {later}, {a, tick}, {a, later}} {
			w := newWorld(t, kind)
			for _, c := range l {
				require.Equal(t, Done, w.s.Apply(c.Encode()).Status)
				require.Equal(t, w.s.Hash(), w.copy().Hash(), "%v", l)
			}
			require.NotContains(t, seen, w.s.Hash(), "%v: %v", kind, l)
			seen[w.s.Hash()] = l
		}
	}
}

func TestHashesTellStatesApart(t *testing.T) { hashesTell(t) }

// partsHash requires that parts of equal states merge to states of equal hashes, and that a
// conflict shows in them.
func partsHash(t testing.TB) {
	w := newWorld(t, Partitionable)
	w.put("k", "before")
	o, same := w.part(2), w.part(3)
	o.put("k", "there")
	w.put("k", "here")
	m, n := w.copy(), w.copy()
	m.Merge([]*State{w.s, o.s})
	n.Merge([]*State{w.copy(), o.copy()})
	require.Equal(t, m.Hash(), n.Hash())
	require.NotEmpty(t, m.Conflicts(""))
	n.conflicts = index[string, *Conflict]{}
	require.NotEqual(t, m.Hash(), n.Hash(), "one without the conflict")
	n.Merge([]*State{same.s, o.s})
	require.NotEqual(t, m.Hash(), n.Hash())
}

func TestHashesOfMergedParts(t *testing.T) { partsHash(t) }
