package lab

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/failaware/failaware/sim/fault"
	"github.com/failaware/failaware/timed"
)

// The lectures: 3N−1 messages and message times if the initiator follows the
// would-be leader in the ring, 2N if it is that itself.
func TestRingCountsOfTheLectures(t *testing.T) {
	for _, s := range []Suppression{ByParticipant, ByInitiator} {
		for n := 4; n <= 64; n++ {
			best := timed.NodeID(n)
			c, err := countRing(n, s, 1)
			require.NoError(t, err)
			require.Equal(t, counted{n, best, map[Kind]int{RingElection: 2*n - 1, RingElected: n}, 3*n - 1, float64(3*n - 1)}, c)
			c, err = countRing(n, s, best)
			require.NoError(t, err)
			require.Equal(t, counted{n, best, map[Kind]int{RingElection: n, RingElected: n}, 2 * n, float64(2 * n)}, c)
		}
	}
}

// Whoever calls for it, one is elected; and suppression keeps the messages of N
// initiators below N rounds.
func TestRingOfSeveralInitiators(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 12).Draw(t, "n")
		s := rapid.SampledFrom([]Suppression{ByParticipant, ByInitiator}).Draw(t, "suppression")
		var callers timed.Set
		for _, i := range rapid.SliceOfN(rapid.IntRange(1, n), 1, n).Draw(t, "callers") {
			callers.Add(timed.NodeID(i))
		}
		var list []timed.NodeID
		for id := range callers.All() {
			list = append(list, id)
		}
		c, err := countRing(n, s, list...)
		require.NoError(t, err)
		require.Equal(t, timed.NodeID(n), c.Leader)
		require.LessOrEqual(t, c.Total, n*(n+1)/2+2*n)
		require.GreaterOrEqual(t, c.Total, 2*n)
	})
}

// "But what if the predecessor also fails?" Then only failure detectors help.
func TestRingWhoseLeaderAndPredecessorCrash(t *testing.T) {
	s := Scenario{Name: "both", Nodes: 6, Duration: 30 * time.Second, Faults: scripted(
		fault.Fault{At: 10 * time.Second, Kind: fault.Crash, Node: 1}, fault.Fault{At: 10 * time.Second, Kind: fault.Crash, Node: 6})}
	require.ErrorContains(t, violation(t, "ring-predecessor", s, 1, Safety), "takes 1 for the leader")
	require.NoError(t, violation(t, "ring", s, 1, Safety))
	require.NoError(t, violation(t, "ring", s, 1, Liveness))
}

// An election that names a process which crashed goes around until the bound of rounds,
// and elects nobody.
func TestRingWithoutRepairWaitsForTheDead(t *testing.T) {
	r := HighestID(4)
	for id := timed.NodeID(1); id < 4; id++ {
		m := NewRing(id, r, ByParticipant, ByDetector, PaceOf(timed.LAN()))
		stale := &Message{Kind: RingElection, Candidate: 4, Initiator: 1}
		out := m.HandleMessage(1, 0, stale, timed.SetOf(1, 2, 3), nil)
		require.Len(t, out, 1)
		stale.Hops = MaxRounds * 4
		require.Empty(t, m.HandleMessage(2, 0, stale, timed.SetOf(1, 2, 3), nil))
		require.Zero(t, m.Claim(2).Elected)
		out = m.HandleTimeout(m.Deadline(), timed.SetOf(1, 2, 3), nil)
		require.Len(t, out, 1, "no result came: it calls for another election")
		require.Equal(t, id, out[0].Message.Candidate)
	}
}

// A ring that falls into two and is whole again has two leaders: nothing in the
// algorithm looks for that.
func TestRingKeepsTwoLeadersAfterAPartition(t *testing.T) {
	require.ErrorContains(t, violation(t, "ring", scenario(t, "partition"), 1, Safety), "process 4 takes 4 for the leader, not the best, 1")
}

// With suppression by initiator, the election of a lower one ends where a higher
// one's has come by, until that is over.
func TestRingSuppressesLowerInitiators(t *testing.T) {
	all := timed.SetOf(1, 2, 3, 4)
	m := NewRing(2, HighestID(4), ByInitiator, NoRepair, PaceOf(timed.LAN()))
	require.Len(t, m.HandleMessage(1, 1, &Message{Kind: RingElection, Candidate: 4, Initiator: 3}, all, nil), 1)
	require.Empty(t, m.HandleMessage(2, 1, &Message{Kind: RingElection, Candidate: 4, Initiator: 1}, all, nil))
	require.Empty(t, m.HandleMessage(2, 1, &Message{Kind: RingElected, Candidate: 4, Initiator: 1}, all, nil))
	require.Zero(t, m.Claim(2).Elected)
	require.Len(t, m.HandleMessage(3, 1, &Message{Kind: RingElected, Candidate: 4, Initiator: 3}, all, nil), 1)
	require.Equal(t, timed.NodeID(4), m.Claim(3).Elected)
	require.Len(t, m.HandleMessage(4, 1, &Message{Kind: RingElection, Candidate: 4, Initiator: 1}, all, nil), 1, "the next election")
}
