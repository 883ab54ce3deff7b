package api

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// A clock that hears nothing more stays synchronized for at least as long as
// was said, whatever it heard before.
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

func TestEveryKindOfEventHasAWireForm(t *testing.T) {
	h := failaware.EventHeader{Sequence: 9, Time: time.Unix(1, 2)}
	id := failaware.ViewID{Sequence: 3, Leader: 2, Boot: 1 << 40}
	v := &failaware.View{ID: id, Set: timed.SetOf(1, 2), Members: []membership.Member{
		{Incarnation: failaware.Incarnation{Node: 1, Boot: 5}}, {Incarnation: failaware.Incarnation{Node: 2, Boot: 6}, Previous: id}}}
	line := failaware.TimelineID{Leader: 2, Boot: 1 << 40, Sequence: 1}
	for _, e := range []failaware.Event{
		failaware.Ready{EventHeader: h, Boot: 5},
		failaware.PeerAlive{EventHeader: h, Peer: 2, Bound: failaware.UnknownDelay},
		failaware.PeerSilent{EventHeader: h, Peer: 2, SilentFor: 7, LastBound: 8},
		failaware.PeerRestarted{EventHeader: h, Peer: 2, Boot: 5},
		failaware.PeerLeaving{EventHeader: h, Peer: 2, Boot: 5},
		failaware.PeerCloned{EventHeader: h, Peer: 2, Boot: 5},
		failaware.Elected{EventHeader: h},
		failaware.LeadLost{EventHeader: h, Reason: leader.Outranked, By: 2},
		failaware.Following{EventHeader: h},
		failaware.GlobalElected{EventHeader: h},
		failaware.GlobalLost{EventHeader: h, Reason: leader.NoQuorum},
		failaware.OtherQuorum{EventHeader: h, Peer: 2, Epoch: 1, Digest: 5},
		failaware.QuorumChange{EventHeader: h, Step: failaware.QuorumEntered, Epoch: 2, System: "majority:1"},
		failaware.Unfit{EventHeader: h},
		failaware.ViewInstalled{EventHeader: h, View: v, Previous: id, Transitional: timed.SetOf(2), Merged: v.Merged()},
		failaware.ViewFresh{EventHeader: h, View: id},
		failaware.ViewStale{EventHeader: h, View: id, Reason: membership.Proposed, By: 2},
		failaware.ClockAdopted{EventHeader: h, Timeline: line},
		failaware.ClockStepped{EventHeader: h, Timeline: line, Parent: line, Step: -5},
		failaware.ClockFault{EventHeader: h, Peer: 2, Boot: 5, Bound: -3},
		failaware.Mismatch{EventHeader: h, Peer: 2, Difference: &failaware.MismatchError{Peer: 2, FastThreshold: 1, PeerFastThreshold: 2}},
		failaware.Restarted{EventHeader: h, Reason: failaware.Suspended, Previous: 4, Boot: 5},
		failaware.Missed{EventHeader: h, Count: 5},
	} {
		w := eventOf(e, 1, "run")
		require.Equal(t, "run.9", w.ID)
		require.Equal(t, e.Kind(), w.Kind)
		require.Equal(t, e.String(), w.Text)
		require.True(t, wanted("all", w.Kind))
		in := 0
		for _, topic := range []string{"views", "leader", "clock", "peers"} {
			if wanted(topic, w.Kind) {
				in++
			}
		}
		require.Contains(t, []int{1, 4}, in, w.Kind)
		if plain := (Event{ID: w.ID, Sequence: 9, Time: w.Time, Node: 1, Kind: w.Kind, Text: w.Text}); w.Kind != "unfit" {
			require.NotEqual(t, plain, w, "it says more than its text")
		}
	}
}

func TestEventIDs(t *testing.T) {
	for _, c := range []struct {
		text string
		want uint64
	}{{"7", 7}, {"a.7", 7}, {"b.7", 0}, {"0", 0}} {
		got, err := parseEventID(c.text, "a")
		require.NoError(t, err)
		require.Equal(t, c.want, got, c.text)
	}
	for _, bad := range []string{"a.", "x", "-1", "a.-1", "99999999999999999999"} {
		_, err := parseEventID(bad, "a")
		require.Error(t, err, bad)
	}
}
