package lab

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/sim/fault"
	"github.com/failaware/failaware/timed"
)

var leased = []string{"majority", "nerio-drift", "nerio-skew", "local-global"}

// Quorums and leases prevent two leaders under all faults.
func TestLeasedLeadersAreUnique(t *testing.T) {
	for _, name := range leased {
		for _, where := range []string{"trio-cut", "flapping", "restart-storm", "partition", "random"} {
			s := scenario(t, where)
			o := outcome(t, name, s, 7)
			for _, spec := range []SpecName{SO, LS, Uniqueness} {
				require.NoError(t, o.violation(t, spec), "%s in %s", name, s.Name)
			}
			require.Zero(t, o.Two+o.TwoAny)
		}
	}
}

func TestLeasedLeadersAreStable(t *testing.T) {
	for _, name := range leased {
		for _, where := range []string{"calm", "crash", "partition", "bridge"} {
			o := outcome(t, name, scenario(t, where), 7)
			require.NoError(t, o.violation(t, Stability), "%s in %s", name, where)
			require.NoError(t, o.violation(t, Eventual), "%s in %s", name, where)
		}
	}
}

// changed is Nerio with its machines altered.
func changed(t *testing.T, name string, change func(*Nerio)) Algorithm {
	a := algorithm(t, name)
	plain := a.Machine
	a.Machine = func(self timed.NodeID, r *Ranking, p Pace) Machine {
		m := plain(self, r, p).(*Nerio)
		change(m)
		return m
	}
	return a
}

// The paper's processes keep their variables over crashes. One that forgets its
// grants, and grants again at once, elects a second leader.
func TestNerioThatForgetsItsGrantsBreaksUniqueness(t *testing.T) {
	hasty := func(m *Nerio) { m.Forgets, m.Again = false, time.Millisecond }
	impatient := changed(t, "nerio-drift", hasty)
	impatient.Detector = ByPhi
	s := Scenario{Name: "amnesia", Nodes: 3, Duration: 20 * time.Second, Faults: scripted(
		// 1 leads with the grant of 3, and does not hear of anything.
		fault.Fault{At: warmup, For: 300 * time.Millisecond, Kind: fault.Deaf, Node: 1},
		fault.Fault{At: warmup, For: 300 * time.Millisecond, Kind: fault.Mute, Node: 1},
		fault.Fault{At: warmup - 200*time.Millisecond, For: 195 * time.Millisecond, Kind: fault.Cut, Node: 1, Peer: 2},
		fault.Fault{At: warmup + time.Millisecond, For: 2 * time.Millisecond, Kind: fault.Crash, Node: 3})}
	o, err := Run(impatient, s, 1)
	require.NoError(t, err)
	require.ErrorContains(t, o.violation(t, Uniqueness), "{1 2} lead at once")
	require.ErrorContains(t, o.violation(t, SO), "1 leads with the support of 3, which supports 2")

	patient := changed(t, "nerio-drift", func(m *Nerio) { m.Again = time.Millisecond })
	patient.Detector = ByPhi
	o, err = Run(patient, s, 1)
	require.NoError(t, err)
	require.NoError(t, o.violation(t, Uniqueness))
}

// OQwBS is only as good as its clocks: with clocks further apart than Δ, grants end
// before the lead that rests on them.
func TestNerioBeyondItsSkewBreaksUniqueness(t *testing.T) {
	late := changed(t, "nerio-skew", func(m *Nerio) { m.Skew, m.Again = -60*time.Millisecond, 20*time.Millisecond })
	o, err := Run(late, scenario(t, "calm"), 1)
	require.NoError(t, err)
	require.Error(t, o.violation(t, SO))
}

func TestReleaseDoesNotFreeALaterGrant(t *testing.T) {
	var g grant
	g.bind(1, 200, 50)
	g.bind(1, 180, 60)
	require.EqualValues(t, 200, g.until, "grants are never shortened")
	g.release(1, 120, 50)
	require.EqualValues(t, 200, g.until, "an overtaken release")
	g.release(2, 120, 60)
	require.False(t, g.free(2, 120))
	g.release(1, 120, 60)
	require.True(t, g.free(2, 120))
	g.bind(2, 130, 10)
	require.EqualValues(t, 130, g.until)
	require.Equal(t, timed.NodeID(2), g.claim(129).Elected)
	require.Zero(t, g.claim(130).Elected)
}

// A better process that comes back takes over from the weak leader, which
// releases its grants instead of letting them run out.
func TestNerioReleasesToABetterProcess(t *testing.T) {
	o := outcome(t, "nerio-drift", scenario(t, "crash"), 1)
	require.NoError(t, o.violation(t, Safety))
	require.NoError(t, o.violation(t, Liveness))
}

// The master of the majority election stays, although a better one has come back.
func TestMasterStays(t *testing.T) {
	require.ErrorContains(t, violation(t, "majority", scenario(t, "crash"), 1, Safety), "takes 2 for the leader, not the best, 1")
}

// A leader that is not the best any more ends its lead at once, and frees all votes.
func TestWeakLeaderReleases(t *testing.T) {
	p, both, r := PaceOf(timed.LAN()), timed.SetOf(1, 2), HighestID(3)
	m, v := NewNerio(2, r, BoundedDrift, p), NewNerio(1, r, BoundedDrift, p)
	now := timed.Instant(time.Hour)
	m.Start(now, both, nil)
	v.Start(now, both, nil)
	now = timed.Later(m.ready, v.ready)
	out := m.HandleTimeout(now, both, nil)
	require.Len(t, out, 2)
	ok := v.HandleMessage(now, 2, &out[0].Message, both, nil)
	m.HandleMessage(now, 1, &ok[0].Message, both, nil)
	require.True(t, m.Claim(now).Leads)
	require.Equal(t, timed.SetOf(1, 2), m.Claim(now).Support)

	out = m.HandleTimeout(now+1, timed.SetOf(1, 2, 3), nil)
	require.Len(t, out, 2)
	require.Equal(t, GrantRelease, out[0].Message.Kind)
	require.Zero(t, m.Claim(now+1))
	v.HandleMessage(now+1, 2, &out[0].Message, both, nil)
	require.Zero(t, v.Claim(now+1))
	require.Len(t, v.HandleMessage(now+1, 3, &Message{Kind: GrantRequest, Start: 5, Span: p.Lease}, both, nil), 1)
}

// A replica that restarts does not stand in the master's way: it hears of it by
// its renewals, although its own vote is not free.
func TestRestartedReplicaFindsTheMaster(t *testing.T) {
	for seed := range uint64(4) {
		require.Less(t, outcome(t, "majority", scenario(t, "crash"), seed).Worst, 3*timed.LAN().LockTime, seed)
	}
}
