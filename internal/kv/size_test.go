package kv

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

// A state with more of something than a store keeps comes from no store, and is not read.
func TestAStateBeyondTheLimitsIsDamaged(t *testing.T) {
	read := func(s *State) error {
		var b bytes.Buffer
		require.NoError(t, s.Snapshot(&b))
		return New(s.kind).Restore(&b)
	}
	for n, want := range map[int]error{maxVoid: nil, maxVoid + 1: ErrDamaged} {
		require.ErrorIs(t, read(&State{void: make([]Dot, n)}), want)
	}
	for n, want := range map[int]error{MaxConflicts: nil, MaxConflicts + 1: ErrDamaged} {
		s := New(Partitionable)
		for i := range n {
			c := &Conflict{Lost: &Entry{Key: "key", Dot: Dot{1, uint64(i + 1)}}}
			s.conflicts.set(conflictKey("key", c.Lost.Dot), c)
		}
		require.ErrorIs(t, read(s), want)
	}
}
