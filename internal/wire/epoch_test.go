package wire

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/leader/edict"
	"github.com/failaware/failaware/leader/epoch"
	"github.com/failaware/failaware/timed"
)

const firstSystem, nextSystem = "majority:1,2,3", "majority:2,3,4"

// notedState returns the state of a voter that has noted a proposal.
func notedState() *epoch.State {
	return &epoch.State{Epoch: 3, System: firstSystem, Phase: epoch.Noted, Next: nextSystem, Edict: edict.Edict{Epoch: 3,
		Stamps: []edict.Stamp{{Node: 1, Counter: 4, Boot: bootOf(1), At: 99}, {Node: 2, Counter: 7, Boot: bootOf(2), At: 5}},
		Digest: edict.Sum(epoch.Proposal(3, nextSystem))}}
}

func TestReportsFitWhereChangesAreAllowed(t *testing.T) {
	texts := func(n int) (system, next string) {
		var ids []string
		for i := range n {
			ids = append(ids, fmt.Sprint(i+1))
		}
		return "majority:" + strings.Join(ids, ","), "majority:" + strings.Join(ids[1:], ",")
	}
	for n := 2; n <= timed.MaxNodes; n++ {
		system, next := texts(n)
		if len(system) > epoch.MaxSystem {
			require.Greater(t, n, 250)
			break
		}
		s := *notedState()
		s.System, s.Next, s.Edict.Stamps, s.Edict.Digest = system, next, nil, edict.Sum(epoch.Proposal(3, next))
		for i := range n {
			s.Edict.Stamps = append(s.Edict.Stamps, edict.Stamp{Node: timed.NodeID(i + 1), Counter: maxStarts, Boot: math.MaxUint64, At: datagram.MaxStamp})
		}
		p := fullestPacket(2)
		p.Frames = FrameReply | FrameStamp | FrameEpoch
		p.Epoch = &s
		need := reportFor(system, next, membersOf(t, system))
		_, err := (&Encoder{MaxPacket: need}).Append(nil, &p)
		require.NoError(t, err, "%d voters", n)
		require.Equal(t, need <= MaxPacket, CheckChange(system, next, MaxPacket) == nil)
		if n <= 25 {
			require.NoError(t, CheckChange(system, next, MaxPacket), "%d voters", n)
		}
	}
	system, next := texts(60)
	require.ErrorContains(t, CheckChange(system, next, MaxPacket), "and MaxPacket is 1200")
}

func membersOf(t *testing.T, text string) timed.Set {
	s, err := leader.ParseSystem(text)
	require.NoError(t, err)
	return s.Members()
}
