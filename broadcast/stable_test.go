package broadcast

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// hearsOfStability reports whether members that do not hear each other deliver a Strict
// message, because a third one says that all have it, and whether such news counts at once.
func hearsOfStability(t testing.TB) bool {
	g := newTrio(3, Config{})
	g.drop = func(from, to int, _ *Packet) bool { return from+to == 1 }
	_, err := g.cast(2, []byte("strict"), Options{Order: TotalOrder, Atomicity: StrictAtomicity})
	require.NoError(t, err)
	g.run(10 * aFewPeriods)
	s := newTrio(3, Config{}).nodes[0]
	s.known, s.have = 3, 3
	s.handleHeader(2, &Header{Have: s.members[2].ack, Stable: [2]uint64{3, 2}})
	return g.count[0] == 1 && g.count[1] == 1 && s.stable[StrongAtomicity] == 3 && s.stable[StrictAtomicity] == 2
}

func TestMembersHearOfStabilityFromOthers(t *testing.T) { require.True(t, hearsOfStability(t)) }
