package kv

import (
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// trimOneByOne is the rule of trimConflicts as it was first written: look for the next one that
// goes, again and again.
func trimOneByOne(s *State) {
	for s.conflicts.n > MaxConflicts || s.conflictBytes > MaxConflictBytes {
		var first *Conflict
		for _, c := range s.conflicts.all() {
			if first == nil || c.resolved && !first.resolved || c.resolved == first.resolved && c.order(first) < 0 {
				first = c
			}
		}
		if !first.resolved {
			s.counts.Forgotten++
		}
		s.conflicts.remove(first.key())
		s.conflictBytes -= first.bytes()
	}
}

// someConflicts returns a state with conflicts, a few too many or too large: of few revisions and
// writes, so that many are of one age.
func someConflicts(seed uint64) *State {
	r := rand.New(rand.NewPCG(seed, 3))
	s := New(Partitionable)
	most, size := MaxConflicts+r.IntN(100), 1+r.IntN(2*MaxConflictBytes/MaxConflicts)
	if r.IntN(3) == 0 {
		most, size = 50+r.IntN(50), MaxValueBytes
	}
	value := make([]byte, size)
	for range most {
		lost := &Entry{Key: strconv.Itoa(r.IntN(most)), Value: value[:r.IntN(size)], Dot: Dot{1 + r.Uint64N(3), 1 + r.Uint64N(20)}}
		lost.Version.Revision = r.Uint64N(5)
		c := &Conflict{Lost: lost, Kept: Dot{9, 9}, Revision: r.Uint64N(5), resolved: r.IntN(4) == 0}
		if c.resolved {
			lost.Value = nil
		}
		s.report(c)
	}
	return s
}

// trimmedAlike requires that members of builds with either rule have one state after a merger.
func trimmedAlike(t testing.TB) {
	trimmed, resolved := 0, 0
	for seed := range uint64(100) {
		s, o := someConflicts(seed), someConflicts(seed)
		before := s.conflicts.n
		s.trimConflicts()
		trimOneByOne(o)
		require.Equal(t, o.Hash(), s.Hash(), "seed %d", seed)
		require.Equal(t, o.counts, s.counts, "seed %d", seed)
		require.Equal(t, o.conflictBytes, s.conflictBytes, "seed %d", seed)
		require.Equal(t, o.conflicts.n, s.conflicts.n, "seed %d", seed)
		if s.conflicts.n < before {
			trimmed++
		}
		for _, c := range s.conflicts.all() {
			if c.resolved {
				resolved++
				break
			}
		}
	}
	require.Greater(t, trimmed, 20)
	require.Greater(t, resolved, 20)
}

func TestConflictsAreTrimmedAsEver(t *testing.T) { trimmedAlike(t) }

// A merger does not look through all conflicts for each one that goes.
func TestManyConflictsAreTrimmedAtOnce(t *testing.T) {
	takes := func(trim func(*State)) time.Duration {
		s := New(Partitionable)
		for i := range 10_000 {
			s.report(&Conflict{Lost: &Entry{Key: strconv.Itoa(i), Dot: Dot{1, uint64(i + 1)}}, Kept: Dot{2, 1}, Revision: 1})
		}
		began := time.Now()
		trim(s)
		require.Equal(t, MaxConflicts, s.conflicts.n)
		return time.Since(began)
	}
	for range 10 { // others may use the processor
		if one, all := takes(trimOneByOne), takes((*State).trimConflicts); all < one/5 {
			t.Logf("%v, and %v one by one", all, one)
			return
		}
	}
	require.Fail(t, "it takes as long as one by one")
}
