package stack

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/leader"
)

// An incarnation that ends with evidence against its clock begins nothing new, at
// whatever time: no request of it follows, and its last packets free no votes.
func distrustBeginsNothing(t testing.TB) {
	for _, rank := range []leader.RankBy{leader.Stable, leader.ByID} {
		for wait := range 60 {
			p := newCluster(2, rank)
			for p.leader() == nil {
				p.step(nil)
			}
			for range wait {
				p.step(nil)
			}
			s := p.leader()
			require.NotNil(t, s)
			p.now = p.now.Add(time.Millisecond)
			packets := 0
			for _, e := range s.Distrust(p.now, nil) {
				if e.Kind == Send {
					packets++
					require.Zero(t, e.Packet.Frames&(wire.FrameRequest|wire.FrameRelease), "after %d ms", wait)
					require.False(t, e.Packet.State.Leading)
				}
			}
			require.Equal(t, 1, packets, "the peer learns that it does not lead")
			require.False(t, s.Leads(p.now))
		}
	}
}

func TestDistrustBeginsNothingNew(t *testing.T) { distrustBeginsNothing(t) }
