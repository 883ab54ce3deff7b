package kv

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// attemptsAreOne is the rule of sessions: attempts differ in their names and times only.
func attemptsAreOne(t testing.TB) {
	seen := map[uint64]bool{}
	for _, c := range commands() {
		again := c
		again.Dot, again.At = Dot{9, 9}, at(line(1), time.Minute, time.Second)
		require.Equal(t, Recognize(c.Encode()), Recognize(again.Encode()))
		others := []Command{c, c, c, c, c}
		others[1].Value = []byte("other")
		others[2].Lease = Dot{7, 7}
		others[3].TTL += time.Second
		others[4].Match = !c.Match
		for _, o := range others {
			sum := Recognize(o.Encode())
			require.False(t, seen[sum], "%+v", o)
			seen[sum] = true
		}
	}
	require.NotEqual(t, Recognize([]byte("no")), Recognize([]byte("command")))
}

func TestAttemptsAreOneCommand(t *testing.T) { attemptsAreOne(t) }

// resultsAreKept is the rule of results: a session keeps the whole of one.
func resultsAreKept(t testing.TB) {
	for _, r := range []Result{{}, {Status: Mismatch, Revision: 1 << 60, Version: Version{17, 3}}, {Status: Full, Revision: 3, Limit: LimitLeases},
		{Status: Done, Revision: 4, Version: Version{4, 0}, Lease: Dot{1 << 63, 5}}} {
		b, err := r.MarshalBinary()
		require.NoError(t, err)
		require.Less(t, len(b), 64, "a session keeps those of its whole window")
		var got Result
		require.NoError(t, got.UnmarshalBinary(b))
		require.Equal(t, r, got)
		for n := range b {
			require.ErrorIs(t, got.UnmarshalBinary(b[:n]), ErrDamaged)
		}
		require.ErrorIs(t, got.UnmarshalBinary(append(b, 0)), ErrDamaged)
	}
	for _, limit := range []string{LimitKeys, LimitBytes, LimitLeases} {
		require.LessOrEqual(t, len(limit), maxLimit)
	}
}

func TestResultsAreKeptWhole(t *testing.T) { resultsAreKept(t) }
