package kv

import (
	"bytes"
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

// hashesHaveAll spoils one thing after the other of a state: copies that differ in what a
// snapshot has have different hashes.
func hashesHaveAll(t testing.TB) {
	w := newWorld(t, Partitionable)
	w.do(Command{Op: Put, Key: "a", Value: []byte("1"), TTL: time.Minute})
	w.put("b", "2")
	w.do(Command{Op: Delete, Key: "b", Match: true})
	o := w.part(2)
	o.put("b", "there")
	w.put("b", "here")
	w.s.Merge([]*State{w.copy(), o.copy()})
	w.do(Command{Op: Tick})
	want := w.s.Hash()
	for what, spoil := range map[string]func(*State){
		"a value":    func(s *State) { respell(s, "a", func(e *Entry) { e.Value = []byte("9") }) },
		"a version":  func(s *State) { respell(s, "a", func(e *Entry) { e.Version.Mark++ }) },
		"creation":   func(s *State) { respell(s, "a", func(e *Entry) { e.Created++ }) },
		"a reading":  func(s *State) { respell(s, "a", func(e *Entry) { e.At.Deviation++ }) },
		"a deletion": func(s *State) { respell(s, "b", func(e *Entry) { e.Deleted = true }) },
		"an end":     func(s *State) { l, _ := s.leases.get(s.entry("a").Lease.String()); l.end++ },
		"a ttl":      func(s *State) { l, _ := s.leases.get(s.entry("a").Lease.String()); l.ttl++ },
		"a conflict": func(s *State) { c := s.Conflicts("")[0]; c.Lost.Value, c.Lost.sum = []byte("9"), 0 },
		"resolved":   func(s *State) { s.Conflicts("")[0].resolved = true },
		"a refusal":  func(s *State) { s.void[0].Number++ },
		"a command":  func(s *State) { s.seen.add(Dot{7, 7}) },
		"a count":    func(s *State) { s.counts.Expired++ },
		"history":    func(s *State) { s.history.base++ },
		"a timeline": func(s *State) { s.clock.timeline.Boot++ },
		"its rules":  func(s *State) { s.told = false },
	} {
		s := w.copy()
		require.Equal(t, want, s.Hash())
		spoil(s)
		require.NotEqual(t, want, s.Hash(), what)
	}
	s := w.copy()
	s.Apply((&Command{Op: Put, Dot: Dot{8, 1}, At: w.now, Key: "c"}).Encode())
	require.NotEqual(t, w.s.content, s.content)
	s.unlink("c")
	require.Equal(t, w.s.content, s.content, "what is gone does not count")
}

// respell gives a key of a state another entry.
func respell(s *State, key string, change func(*Entry)) {
	e := *s.entry(key)
	e.sum = 0
	change(&e)
	s.unlink(key)
	s.link(&e)
}

func TestHashesHaveAllOfAState(t *testing.T) { hashesHaveAll(t) }

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
	lost := m.Conflicts("")[0].Lost
	resolve := &Command{Op: Resolve, Dot: Dot{9, 1}, Key: "k", Lease: lost.Dot}
	require.Equal(t, Done, m.Apply(resolve.Encode()).Status)
	n = New(Partitionable)
	require.NoError(t, n.Restore(bytes.NewReader(written(t, m))))
	require.Equal(t, m.Hash(), n.Hash(), "a resolved conflict has no value")
	n.conflicts = index[string, *Conflict]{}
	require.NotEqual(t, m.Hash(), n.Hash(), "one without the conflict")
	n.Merge([]*State{same.s, o.s})
	require.NotEqual(t, m.Hash(), n.Hash())
}

func TestHashesOfMergedParts(t *testing.T) { partsHash(t) }
