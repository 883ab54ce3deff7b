package lab

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/sim/fault"
	"github.com/failaware/failaware/timed"
)

func TestTwoLeadersAreMeasured(t *testing.T) {
	s := Scenario{Name: "quiet", Nodes: 2, Duration: 20 * time.Second, Faults: noFaults}
	o, err := Run(lying(func(self timed.NodeID, _ time.Duration) Claim { return following(self, self) }), s, 1)
	require.NoError(t, err)
	bounds, err := timed.LAN().Validate()
	require.NoError(t, err)
	require.Equal(t, s.Duration, o.Simulated)
	require.Equal(t, s.Duration, o.TwoAny)
	require.Equal(t, s.Duration-bounds.Rejoin-bounds.Elect, o.Two)
	require.Equal(t, 2*s.Duration, o.Up)
	require.Equal(t, o.Up, o.Led, "each by itself")
	require.Equal(t, 2, o.Changes)
	require.Zero(t, o.Elections)

	s.Faults = scripted(fault.Fault{Kind: fault.Split, Blocks: []timed.Set{timed.SetOf(1), timed.SetOf(2)}, At: 10 * time.Second})
	o, err = Run(lying(func(self timed.NodeID, _ time.Duration) Claim { return following(self, self) }), s, 1)
	require.NoError(t, err)
	require.Equal(t, 10*time.Second, o.TwoAny, "they are not connected any more")
}

// A lease ends in true time by the clock alone, between all events.
func TestLeasesEndExactly(t *testing.T) {
	s := Scenario{Name: "quiet", Nodes: 1, Duration: 5 * time.Second, Faults: noFaults}
	a := lying(nil)
	a.Machine = func(self timed.NodeID, _ *Ranking, _ Pace) Machine {
		l := &liar{self: self}
		l.lie = func(self timed.NodeID, since time.Duration) Claim {
			end := l.begun.Add(1234567 * time.Microsecond)
			if since >= 1234567*time.Microsecond {
				return Claim{}
			}
			return Claim{Elected: 1, Until: end, Leads: true, LeadUntil: end, Normal: true}
		}
		return l
	}
	o, err := Run(a, s, 1)
	require.NoError(t, err)
	require.InDelta(t, 1234567*time.Microsecond, o.Led, float64(timed.LAN().MaxDrift.Slack(2*time.Second, 1)))
	require.Equal(t, 5*time.Second, o.Up)
	require.Equal(t, 1, o.Changes)
	require.Equal(t, 1, o.Relapses)
}

// How long an election took counts from the change of connectivity, and processes
// that are down are not counted.
func TestElectionsAreMeasured(t *testing.T) {
	s := Scenario{Name: "one", Nodes: 2, Duration: 20 * time.Second, Faults: scripted(fault.Fault{At: warmup, Kind: fault.Crash, Node: 1})}
	o, err := Run(lying(func(self timed.NodeID, since time.Duration) Claim {
		if since > warmup+300*time.Millisecond {
			return following(self, 2)
		}
		return following(self, 1)
	}), s, 1)
	require.NoError(t, err)
	require.Equal(t, 1, o.Elections)
	require.InDelta(t, 300*time.Millisecond, o.Elect, float64(15*time.Millisecond))
	require.Equal(t, o.Elect, o.Worst)
	require.Equal(t, 30*time.Second, o.Up)
	require.Equal(t, o.Up-o.Elect, o.Led)
	require.Equal(t, o.Elect, o.TimeToElect())
}

func TestRunsAreDeterministic(t *testing.T) {
	for _, a := range Algorithms() {
		s := scenario(t, "random")
		s.Duration = 5 * time.Second
		first, err := Run(a, s, 3)
		require.NoError(t, err)
		second, err := Run(a, s, 3)
		require.NoError(t, err)
		require.Equal(t, first, second, a.Name)
		other, err := Run(a, s, 4)
		require.NoError(t, err)
		require.NotEqual(t, first.Hash, other.Hash)
	}
}
