package failaware

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/event"
	"github.com/failaware/failaware/internal/loop"
)

// Only a peer that is heard in time, and is not alive all the same, is deaf.
func TestOnlyPeersThatAreNotAliveAreDeaf(t *testing.T) {
	n := startNode(t, Config{ID: 1, Timing: LAN()})
	for _, c := range []struct {
		alive    bool
		lastFast time.Duration
		deaf     bool
	}{{true, time.Millisecond, false}, {false, time.Millisecond, true}, {false, time.Hour, false}, {false, -1, false}} {
		s := n.peerStatus(&loop.PeerStatus{ID: 2, Alive: c.alive, LastFast: c.lastFast, Delay: event.UnknownDelay})
		require.Equal(t, c.deaf, s.Deaf, "%+v", c)
	}
}

// What the broadcast waits for is said of the peer that it is about, or of the node itself.
func TestLagsAreOfTheirPeers(t *testing.T) {
	s := Status{ID: 1, Peers: []PeerStatus{{ID: 2}, {ID: 3}, {}}}
	s.takeLags(Lags{{Member: 3, Missing: true, For: 4}, {Member: 1, Self: true, For: 5}, {Member: 2, For: 6}, {Member: 3, For: 7}})
	require.Equal(t, Status{ID: 1, Lagging: 5, Peers: []PeerStatus{{ID: 2, Lagging: 6}, {ID: 3, Lagging: 7, Missing: 4}, {}}}, s)
}
