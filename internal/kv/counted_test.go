package kv

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// counted demands that a state's counters are those of its content. Limits rest on them: one
// that drifts refuses writes, or drops conflicts, of a state that has room.
func counted(t testing.TB, s *State) {
	live, tombs, size := 0, 0, 0
	for _, e := range s.keys.all() {
		if size += e.bytes(); e.Deleted {
			tombs++
		} else {
			live++
		}
	}
	require.Equal(t, []int{live, tombs, size}, []int{s.live, s.tombs, s.bytes}, "keys, deleted keys, bytes")
	conflicts := 0
	for _, c := range s.conflicts.all() {
		conflicts += c.bytes()
	}
	require.Equal(t, conflicts, s.conflictBytes, "bytes of conflicts")
	changes := 0
	for i := range s.history.changes {
		changes += s.history.changes[i].bytes()
	}
	require.Equal(t, changes, s.history.bytes, "bytes of changes")
}
