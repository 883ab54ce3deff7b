package api

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// A clock without further messages stays synchronized for at least the promised time,
// whatever it received before.
func TestSyncedForIsKept(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	said := 0
	for range 5000 {
		rho := timed.Drift(r.Int64N(int64(timed.MaxDrift)))
		slew := r.Int64N(clocksync.MaxSlewLimit) + 1
		most := time.Duration(r.Int64N(int64(100*time.Millisecond))) + 1
		clock := clocksync.New(clocksync.Config{Self: failaware.Incarnation{Node: 2, Boot: 1}, MaxDeviation: most, MaxSlew: slew,
			StepThreshold: time.Hour, Timing: failaware.Timing{MaxDrift: rho}}, 1000, 5)
		shown := clocksync.Time(r.Int64N(int64(most)))
		for i := range clocksync.Time(2) { // the first line steps the clock, the second one slews it
			lo := time.Duration(r.Int64N(int64(most)/4 + 1))
			clock.HandleLine(1000, &clocksync.Line{Timeline: clocksync.TimelineID{Leader: 1, Boot: 1, Sequence: 1}, Base: 0, Shown: shown * i,
				Rate: r.Int64N(2*slew+1) - slew, Until: timed.Instant(r.Int64N(1e9))}, lo, lo+time.Duration(r.Int64N(int64(most)/2+1)), nil)
		}
		now := timed.Instant(1000 + r.Int64N(1e6))
		left := syncedFor(clock.Read(now), most, rho)
		if left == 0 {
			continue
		}
		said++
		for range 5 {
			then := clock.Read(now.Add(time.Duration(r.Int64N(int64(left) + 1))))
			require.Equal(t, clocksync.Internal, then.Status)
		}
		require.Equal(t, clocksync.Internal, clock.Read(now.Add(left)).Status)
	}
	require.Greater(t, said, 1000)
	require.Zero(t, syncedFor(clocksync.Reading{Deviation: 0}, time.Millisecond, 0), "unsynchronized")
	require.Positive(t, syncedFor(clocksync.Reading{Status: clocksync.Internal}, time.Hour, timed.MaxDrift))
}

// Members of the view that the node has never heard are listed too, in their places.
func TestUnheardMembersAreListed(t *testing.T) {
	v := &failaware.View{Set: timed.SetOf(1, 2, 3, 5)}
	for id := range v.Set.All() {
		v.Members = append(v.Members, membership.Member{Incarnation: failaware.Incarnation{Node: id, Boot: 7}})
	}
	s := failaware.Status{ID: 2, View: failaware.ViewAnswer{View: v}, Peers: []failaware.PeerStatus{{ID: 3}, {ID: 4}, {Listed: "host:1"}}}
	var nodes []int
	for _, m := range membersOfNode(&s, &failaware.Config{}) {
		nodes = append(nodes, m.Node)
	}
	require.Equal(t, []int{1, 2, 3, 4, 5, 0}, nodes)
}
