package handler

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/event"
)

func TestEveryMissIsCounted(t *testing.T)      { missesAddUp(t) }
func TestTheEndOfTheOutputIsKept(t *testing.T) { outputEnds(t) }

// missesAddUp takes an event before which others went missing: some that the buffer of the
// node lost, several times, and one for which the queue had no room.
func missesAddUp(t testing.TB) {
	q := newQueue(2)
	q.miss(1)
	q.miss(2)
	for range 3 {
		q.add(event.Elected{})
	}
	q.miss(4)
	require.Equal(t, uint64(2+1+2+1+4), q.left(), "two wait")
	_, dropped, ok := q.take(nil)
	require.True(t, ok)
	require.Equal(t, uint64(1+2+1+4), dropped)
	_, dropped, ok = q.take(nil)
	require.True(t, ok)
	require.Zero(t, dropped)
}

// outputEnds writes the output of a command in several pieces. The error stands at the end.
func outputEnds(t testing.TB) {
	all := bytes.Repeat([]byte("0123456789abcde\n"), maxOutput/4)
	for _, piece := range []int{1, 7, maxOutput - 1, maxOutput, maxOutput + 1, len(all)} {
		var out tail
		for rest := all; len(rest) > 0; {
			n, err := out.Write(rest[:min(piece, len(rest))])
			require.NoError(t, err)
			require.Equal(t, min(piece, len(rest)), n)
			rest = rest[n:]
		}
		require.Equal(t, string(all[len(all)-maxOutput:]), string(out.b), "pieces of %d bytes", piece)
	}
}
