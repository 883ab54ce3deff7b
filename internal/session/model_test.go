package session

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// number is an operation of a session.
type number struct {
	id ID
	n  uint64
}

// lived is a state of sessions, and what has become of it.
type lived struct {
	*log
	applied map[number]bool // of all states that it was merged from
	since   []ID            // the sessions in the order of their last uses, unless it was merged
	merged  bool
}

// lives are random lives of states that part and meet.
type lives struct {
	t      testing.TB
	rnd    *rand.Rand
	states []*lived
	opened []ID
	last   map[ID]uint64 // the largest number that a caller has used
	met    map[string]int
}

// use lets a caller use a session in one of the states, with a new number or an old one.
func (l *lives) use(s *lived) {
	id := l.opened[l.rnd.IntN(len(l.opened))]
	n := max(1, l.last[id]+uint64(l.rnd.IntN(small.Window+3))-uint64(min(int(l.last[id]), small.Window+1)))
	l.last[id] = max(l.last[id], n)
	a := s.use(id, n, fmt.Sprint(id, n))
	had := s.applied[number{id, n}]
	switch {
	case a.Err == nil && !a.Repeated:
		require.False(l.t, had, "applied twice")
		s.applied[number{id, n}] = true
		l.met["applied"]++
	case a.Repeated:
		require.True(l.t, had, "not applied before")
		require.True(l.t, a.Err == nil || a.Err == ErrResultGone, "%v", a.Err)
		l.met["repeated"]++
	case a.Err == ErrTooOld:
		top := uint64(0)
		for k := range s.applied {
			if k.id == id {
				top = max(top, k.n)
			}
		}
		require.LessOrEqual(l.t, n+uint64(small.Window), top)
		l.met["too old"]++
	default:
		require.Equal(l.t, ErrExpired, a.Err)
		require.False(l.t, !s.merged && recent(s.since, id), "it was used lately")
		l.met["expired"]++
		return
	}
	s.touch(id)
}

// recent reports whether an id is among the last ones of as many as there may be.
func recent(since []ID, id ID) bool {
	return slices.Contains(since[max(0, len(since)-small.Sessions):], id)
}

func (s *lived) touch(id ID) {
	s.since = append(slices.DeleteFunc(s.since, func(o ID) bool { return o == id }), id)
}

// copy returns a copy of a state as another member gets it.
func (l *lives) copy(s *lived) *lived {
	return &lived{log: s.branch(l.t), applied: maps.Clone(s.applied), since: slices.Clone(s.since), merged: s.merged}
}

// merge has some of the states meet, in an order of its own.
func (l *lives) merge() {
	l.rnd.Shuffle(len(l.states), func(i, j int) { l.states[i], l.states[j] = l.states[j], l.states[i] })
	of := l.states[:2+l.rnd.IntN(2)]
	m := &lived{log: &log{}, applied: map[number]bool{}, merged: true}
	var tables []*Table
	for _, s := range of {
		tables = append(tables, s.Table)
		m.list = append(m.list, s.list...)
		maps.Copy(m.applied, s.applied)
	}
	m.Table = Merge(small, tables)
	require.LessOrEqual(l.t, m.Len(), small.Sessions)
	for i := range of {
		of[i] = l.copy(m)
	}
	l.met["merged"]++
}

// exactlyOnce plays random lives.
func exactlyOnce(t testing.TB, first, count uint64) map[string]int {
	met := map[string]int{}
	for seed := range count {
		l := &lives{t: t, rnd: rand.New(rand.NewPCG(first+seed, 5)), last: map[ID]uint64{}, met: met}
		for range 4 {
			l.states = append(l.states, &lived{log: newLog(small), applied: map[number]bool{}})
		}
		for i := range 300 {
			s := l.states[l.rnd.IntN(len(l.states))]
			s.ops = uint64(i) * 10 // ids differ in all states
			switch k := l.rnd.IntN(40); {
			case len(l.opened) == 0 || k < 5:
				id := s.open()
				s.touch(id)
				l.opened = append(l.opened[max(0, len(l.opened)-4):], id)
			case k == 5:
				l.merge()
			case k == 6: // members get the state of another
				for i := range l.rnd.IntN(len(l.states)) + 1 {
					l.states[i] = l.copy(s)
				}
			default:
				l.use(s)
			}
		}
	}
	return met
}

// No operation of a session is applied twice in a state or in those that it was merged
// from, and no session expires that was used lately.
func TestSessionsApplyExactlyOnce(t *testing.T) {
	met := exactlyOnce(t, 0, 300)
	for _, situation := range []string{"applied", "repeated", "too old", "expired", "merged"} {
		require.Positive(t, met[situation], situation)
	}
	t.Log(met)
}
