package replica

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

func TestConfigNamesWhatIsWrong(t *testing.T) {
	self := incarnation(0)
	require.NoError(t, Config{Self: self}.Validate())
	for field, c := range map[string]Config{
		"MaxSnapshot": {Self: self, MaxSnapshot: -1},
		"ChunkBytes":  {Self: self, ChunkBytes: 1},
		"Rate":        {Self: self, Rate: 1},
		"Window":      {Self: self, ChunkBytes: 1000, Window: 999},
		"MaxQueued":   {Self: self, MaxQueued: 1},
		"HashEvery":   {Self: self, HashEvery: -1},
		"Self":        {},
	} {
		require.ErrorContains(t, c.Validate(), "replica: "+field+":")
	}
	require.ErrorContains(t, Config{Self: self, MaxPayload: 1000}.Validate(), "(MaxPayload 1000)")
	small := Config{Self: self, MaxPayload: LeastPayload, ChunkBytes: MinChunkBytes}
	require.NoError(t, small.Validate())
	small.MaxPayload--
	require.ErrorContains(t, small.Validate(), fmt.Sprintf("replica: MaxPayload: %d is below %d", LeastPayload-1, LeastPayload))
}

// The largest report fits into a payload.
func TestTheLargestReportFits(t *testing.T) {
	r := report{view: membership.ViewID{Sequence: membership.MaxSequence, Leader: timed.MaxNodes, Boot: 1}}
	for id := range timed.MaxNodes {
		r.mates.Add(timed.NodeID(id + 1))
	}
	for payload, want := range map[int][2]int{LeastPayload: {1, 1}, LeastPayload + 4*ancestorBytes: {1, 2},
		LeastPayload + 4*copyBytes: {2, 2}, 1 << 20: {maxCopies, maxLine}} {
		c := Config{MaxPayload: payload}
		require.Equal(t, want, [2]int{c.copies(), c.ancestors()}, "%d", payload)
		r.held, r.parts, r.lineage.Line = make([]copyOf, c.copies()), make([]copyOf, c.copies()), make([]Ancestor, c.ancestors())
		b := encode(&message{kind: kindReport, report: r})
		require.Len(t, b, LeastPayload+2*(want[0]-1)*copyBytes+(want[1]-1)*ancestorBytes)
		require.LessOrEqual(t, len(b), payload)
		var got message
		require.NoError(t, decode(b, &got))
		require.Equal(t, r, got.report)
	}
}
