package stack

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/leader/epoch"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/timed"
)

// spokenToInKind is of a node in the first epoch of its group. It hears builds that know of no
// other epoch, and speaks to each peer as that does. In a later epoch it hears them no more:
// they would order messages by the quorums of the first.
func spokenToInKind(t testing.TB) {
	const group, former = 7, 8
	system, err := quorum.Parse(firstSystem)
	require.NoError(t, err)
	cfg := Config{Self: incarnationOf(1), Timing: timed.LAN(), Starts: 1, Group: group, Former: former, Quorum: system, Epoch: 1,
		Epochs: &epoch.State{Epoch: 1, System: firstSystem}}
	s := New(cfg, timed.SetOf(2), 1, 0)
	says := func() uint64 { return s.address(1, 2).Header.Group }
	hear := func(group uint64) {
		p := &wire.Packet{}
		p.MaxDrift, p.FastThreshold = cfg.Timing.MaxDrift, cfg.Timing.FastThreshold
		p.Header.Group, p.Header.Source, p.Header.Boot, p.Header.Destination, p.Header.Stamp = group, 2, bootOf(2), 1, 1
		s.HandlePacket(1, 1, p, nil)
	}
	require.EqualValues(t, former, says())
	hear(group)
	require.EqualValues(t, group, says())
	hear(former)
	require.EqualValues(t, former, says())
	require.Zero(t, s.Dropped.Foreign)
	hear(9)
	require.EqualValues(t, 1, s.Dropped.Foreign)

	cfg.Epochs = &epoch.State{Epoch: 2, System: nextSystem}
	s = New(cfg, timed.SetOf(2), 1, 0)
	require.EqualValues(t, group, says())
	hear(former)
	require.EqualValues(t, 1, s.Dropped.Foreign)
	require.EqualValues(t, group, says())
}

func TestEarlierBuildsAreSpokenToInKind(t *testing.T) { spokenToInKind(t) }
