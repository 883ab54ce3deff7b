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
