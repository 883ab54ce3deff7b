package lab

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/sim/fault"
	"github.com/failaware/failaware/timed"
)

// The lectures: N−2 messages in one message time if the second-highest notices,
// and knows that it is the best left; O(N²) if the lowest does, which is exactly
// N²−N−1 with the answers and the announcements.
func TestBullyCountsOfTheLectures(t *testing.T) {
	for n := 4; n <= 64; n++ {
		second := timed.NodeID(n - 1)
		c, err := countBully(n, 2, true, second)
		require.NoError(t, err)
		require.Equal(t, counted{n, second, map[Kind]int{BullyCoordinator: n - 2}, n - 2, 1}, c)

		c, err = countBully(n, 2, false, 1)
		require.NoError(t, err)
		require.Equal(t, second, c.Leader)
		require.Equal(t, map[Kind]int{BullyElection: n * (n - 1) / 2, BullyAnswer: (n - 1) * (n - 2) / 2, BullyCoordinator: n - 2}, c.Messages)
		require.Equal(t, n*n-n-1, c.Total)
	}
}

// Five message times at worst: the lecture lists an election, its answer, another
// election, the time-out and the announcement one after the other. An answer and the
// next election leave together, so that a time-out of a round trip makes four of
// them, and one that allows a message time for processing five.
func TestBullyTakesFiveMessageTimesAtWorst(t *testing.T) {
	for answer, times := range map[float64]float64{2: 4, 3: 5} {
		for _, n := range []int{4, 16, 64} {
			c, err := countBully(n, answer, false, 1)
			require.NoError(t, err)
			require.Equal(t, times, math.Round(c.Time))
		}
	}
}

// raceSeed is a seed in which the best process comes back while the second-best
// announces itself, and the two announcements reach the others in different orders.
const raceSeed = 5

// The lecture: with restarts, subsets may have different records of who is the
// coordinator. All messages are timely.
func TestBullyRestartLeavesTwoCoordinators(t *testing.T) {
	s := Scenario{Name: "race", Nodes: 4, Duration: 14 * time.Second, Faults: func(d *rand.Rand) []fault.Fault {
		return []fault.Fault{{At: 10 * time.Second, For: 80*time.Millisecond + time.Duration(d.Int64N(int64(60*time.Millisecond))), Kind: fault.Crash, Node: 1}}
	}}
	require.ErrorContains(t, violation(t, "bully", s, raceSeed, Uniqueness), "{1 2} lead at once")
	require.ErrorContains(t, violation(t, "bully", s, raceSeed, Safety), "process 3 takes 2 for the leader, not the best, 1")
	require.NoError(t, violation(t, "local", s, raceSeed, Safety))
}

// Messages that take longer than the time-outs leave everybody its own
// coordinator, connected or not.
func TestBullyWithoutSynchronyHasSeveralCoordinators(t *testing.T) {
	s := Scenario{Name: "slow", Nodes: 5, Duration: 30 * time.Second, Faults: scripted(
		fault.Fault{At: 9 * time.Second, For: 5 * time.Second, Kind: fault.Slow, Extra: 60 * time.Millisecond},
		fault.Fault{At: 10 * time.Second, Kind: fault.Crash, Node: 1})}
	require.ErrorContains(t, violation(t, "bully", s, 1, Uniqueness), "lead at once")
	require.NoError(t, violation(t, "local-global", s, 1, Uniqueness))
}

func TestBullyKeepsTwoLeadersAfterAPartition(t *testing.T) {
	require.ErrorContains(t, violation(t, "bully", scenario(t, "partition"), 1, Safety), "process 4 takes 4 for the leader, not the best, 1")
}
