package sim

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/sim/fault"
)

// stopTurns returns a calm world in which every turn with packets is stopped, when the first is.
func stopTurns(t *testing.T) (*World, *Node) {
	w, err := New(1, Options{Nodes: 3, Calm: true, Preempted: true})
	require.NoError(t, err)
	require.NoError(t, w.Run(time.Second))
	w.preempted.rate = 1
	n := w.nodes[0]
	require.NoError(t, w.RunUntil(time.Second, func() bool { return len(n.unsent) > 0 }))
	w.preempted.rate = 0
	return w, n
}

// The packets of a stopped turn leave when the process goes on, with a stamp of that time, and
// the process does nothing else before.
func TestAStoppedTurnIsSaidLater(t *testing.T) {
	w, n := stopTurns(t)
	goesOn, turn, sent := n.stalledUntil, n.last, n.counter
	packets := uint64(len(n.unsent))
	require.Greater(t, goesOn, w.now)
	require.NoError(t, w.RunUntil(time.Minute, func() bool { return n.counter != sent }))
	require.Equal(t, goesOn, w.now)
	require.Equal(t, sent+packets, n.counter)
	require.Greater(t, n.last, turn)
	slots := 0
	for _, e := range w.queue.heap {
		if e.kind() != eventDeliver {
			continue
		}
		if f := w.slots[e.arg]; f.from == 0 && f.sent == w.now {
			require.Equal(t, n.last, f.packet.Header.Stamp)
			slots++
		}
	}
	require.Positive(t, slots)
	require.NotZero(t, w.reached[SaidLate])
}

// A crash meanwhile loses the packets.
func TestAStoppedTurnIsLostByACrash(t *testing.T) {
	w, n := stopTurns(t)
	free, packets := len(w.free), len(n.unsent)
	require.NoError(t, w.Inject(fault.Fault{Kind: fault.Crash, Node: 1, For: time.Second}))
	require.NoError(t, w.RunUntil(time.Second, func() bool { return !n.proc.Up }))
	require.Empty(t, n.unsent)
	require.GreaterOrEqual(t, len(w.free), free+packets)
	require.NotZero(t, w.reached[NeverSaid])
}
