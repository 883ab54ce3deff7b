package handler

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"
	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/event"
)

func TestEveryMissIsCounted(t *testing.T)      { missesAddUp(t) }
func TestTheEndOfTheOutputIsKept(t *testing.T) { outputEnds(t) }
func TestOverflowsAreLoggedOnce(t *testing.T)  { overflowsAreLoggedOnce(t) }

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

// overflowsAreLoggedOnce has events come while nothing is handled. The log says so at the first
// one that is dropped, and not at each: a handler that hangs would fill the disk.
func overflowsAreLoggedOnce(t testing.TB) {
	var log strings.Builder
	r := &running{Spec: Spec{Kinds: []string{"elected"}}, queue: newQueue(2),
		c: &Config{Log: hclog.New(&hclog.LoggerOptions{Output: &log})}}
	r.read(slices.Values(slices.Repeat([]event.Event{event.Elected{}}, 2)))
	require.Empty(t, log.String())
	r.read(slices.Values(slices.Repeat([]event.Event{event.Elected{}}, 9)))
	require.Equal(t, 1, strings.Count(log.String(), "a handler is too slow"), log.String())
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
