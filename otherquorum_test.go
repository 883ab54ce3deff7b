package failaware_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/event"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/sim/memory"
)

// otherQuorumsTold returns how many events of another quorum system two nodes have told of each
// other after minutes together, and how many the first has after the second has gone.
func otherQuorumsTold(t *testing.T) (a, b, alone int) {
	synctest.Test(t, func(t *testing.T) {
		net := memory.New(memory.Options{Seed: 1})
		start := func(id failaware.NodeID, system string, told *atomic.Int32, peers ...failaware.Peer) *failaware.Node {
			q, err := quorum.Parse(system)
			require.NoError(t, err)
			n, err := failaware.Start(t.Context(), failaware.Config{ID: id, Quorum: q, Transport: net.Transport(), Peers: peers})
			require.NoError(t, err)
			go func() {
				for e := range n.Events(t.Context()) {
					if _, ok := e.(event.OtherQuorum); ok {
						told.Add(1)
					}
				}
			}()
			return n
		}
		var toldA, toldB atomic.Int32
		one := start(1, "majority:1,2,3", &toldA)
		two := start(2, "majority:2,4,5", &toldB, failaware.Peer{ID: 1, Addr: one.Addr().String()})
		time.Sleep(5*time.Minute + 30*time.Second)
		a, b = int(toldA.Load()), int(toldB.Load())
		require.NoError(t, two.Close())
		time.Sleep(5 * time.Minute)
		alone = int(toldA.Load())
		require.NoError(t, one.Close())
	})
	return a, b, alone
}

// The event of another quorum system comes again each minute while the two nodes hear each
// other: an alert that counts events lasts as long as the fault.
func TestOtherQuorumIsRepeated(t *testing.T) {
	a, b, alone := otherQuorumsTold(t)
	require.Equal(t, 6, a)
	require.Equal(t, 6, b)
	require.Equal(t, 6, alone, "the peer has gone")
}
