package failaware

import (
	"context"
	"errors"
	"net"
	"testing"

	"github.com/stretchr/testify/require"
)

// What a node has delivered before it stopped is there afterwards, and then the end is.
func TestDeliveriesOutlastTheNode(t *testing.T) { deliveriesOutlastTheNode(t) }

func deliveriesOutlastTheNode(t testing.TB) {
	n := startNode(t, Config{ID: 1, Broadcast: &BroadcastConfig{}})
	ctx := bounded(t)
	for _, text := range []string{"a", "b", "c"} {
		_, err := n.BroadcastAndWait(ctx, []byte(text), BroadcastOptions{})
		require.NoError(t, err)
	}
	require.NoError(t, n.Close())
	var got string
	var end error
	for end == nil {
		var into [2]Delivery
		var k int
		k, end = n.Receive(ctx, into[:])
		for _, d := range into[:k] {
			got += string(d.Payload)
		}
	}
	require.Equal(t, "abc", got)
	require.ErrorIs(t, end, ErrClosed)
}

// Each loop over the same events begins where the first did.
func TestEventsAreIteratedAgain(t *testing.T) { eventsAgain(t) }

func eventsAgain(t testing.TB) {
	n := startNode(t, Config{ID: 1})
	waitElected(t, n)
	events := n.EventsSince(bounded(t), 0)
	for range 2 {
		for e := range events {
			require.Equal(t, uint64(1), e.Head().Sequence)
			break
		}
	}
}

// A call whose context is done ends with its cause, also if there is an answer.
func TestADoneContextGetsNoAnswer(t *testing.T) { doneContexts(t) }

func doneContexts(t testing.TB) {
	n := startNode(t, Config{ID: 1, Broadcast: &BroadcastConfig{}})
	_, err := n.BroadcastAndWait(bounded(t), nil, BroadcastOptions{})
	require.NoError(t, err)
	over := errors.New("over")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(over)
	_, err = n.WaitLeader(ctx)
	require.ErrorIs(t, err, over)
	_, err = n.Broadcast(ctx, nil, BroadcastOptions{})
	require.ErrorIs(t, err, over)
	_, err = n.Receive(ctx, make([]Delivery, 1))
	require.ErrorIs(t, err, over)
}

// A node that does not start leaves its address and its state directory to the next one.
func TestANodeThatDoesNotStartKeepsNothing(t *testing.T) { keepsNothing(t) }

func keepsNothing(t testing.TB) {
	taken, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	for _, id := range []NodeID{1, NoNode} { // which chooses one
		free, err := net.ListenPacket("udp", "127.0.0.1:0")
		require.NoError(t, err)
		cfg := Config{ID: id, Listen: free.LocalAddr().String(), StateDir: t.TempDir(), NTP: &NTPConfig{Listen: taken.LocalAddr().String()}}
		require.NoError(t, free.Close())
		_, err = Start(t.Context(), cfg)
		require.ErrorIs(t, err, ErrServeTime)
		cfg.NTP = nil
		require.Equal(t, cfg.Listen, startNode(t, cfg).Addr().String())
	}
}

// Nor does it stay in the multicast group in which it looked for others.
func TestANodeThatDoesNotStartLeavesItsGroup(t *testing.T) {
	taken, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	free, err := net.ListenPacket("udp4", "127.0.0.1:0")
	require.NoError(t, err)
	at := free.LocalAddr().String()
	_, port, _ := net.SplitHostPort(at)
	require.NoError(t, free.Close())
	_, err = Start(t.Context(), Config{ID: 1, Insecure: true, Listen: "127.0.0.1:0", Join: []string{"multicast:239.255.70.67:" + port},
		NTP: &NTPConfig{Listen: taken.LocalAddr().String()}})
	if !errors.Is(err, ErrServeTime) {
		t.Skip("the system has no multicast: ", err)
	}
	eventually(t, "the port is free", func() bool {
		c, err := net.ListenPacket("udp4", at)
		return err == nil && c.Close() == nil
	})
}
