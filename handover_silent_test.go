package failaware_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/sim/memory"
)

// A leader does not give up the lead in favour of a peer that it does not hear.
func TestHandOverToASilentPeer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := memory.New(memory.Options{Seed: 1})
		var nodes []*failaware.Node
		for id := failaware.NodeID(1); id <= 3; id++ {
			n, err := failaware.Start(t.Context(), failaware.Config{ID: id, Transport: net.Transport()})
			require.NoError(t, err)
			defer n.Close()
			nodes = append(nodes, n)
		}
		time.Sleep(2 * time.Second)
		i := slices.IndexFunc(nodes, (*failaware.Node).Leads)
		require.GreaterOrEqual(t, i, 0)
		leader, silent, other := nodes[i], nodes[(i+1)%3], nodes[(i+2)%3]
		net.Partition([]failaware.NodeID{silent.ID()})
		time.Sleep(time.Second)
		err := leader.HandOver(t.Context(), silent.ID())
		require.ErrorIs(t, err, failaware.ErrSuccessor)
		require.ErrorContains(t, err, fmt.Sprintf("this node does not hear node %v", silent.ID()))
		require.True(t, leader.Leads())
		require.ErrorIs(t, other.HandOver(t.Context(), silent.ID()), failaware.ErrNotLeader)
		require.NoError(t, leader.HandOver(t.Context(), other.ID()))
		time.Sleep(100 * time.Millisecond)
		require.True(t, other.Leads())
	})
}

func TestStartWithoutAContext(t *testing.T) {
	var none context.Context
	require.PanicsWithValue(t, "failaware: Start with a nil context", func() { _, _ = failaware.Start(none, failaware.Config{ID: 1}) })
}

func TestNoLeaderErrorWithoutACause(t *testing.T) {
	require.EqualError(t, &failaware.NoLeaderError{}, "failaware: nobody was found who leads: nobody is known who might")
	require.EqualError(t, &failaware.NoLeaderError{Cause: failaware.ErrClosed}, "failaware: nobody was found who leads: nobody is known who might ("+failaware.ErrClosed.Error()+")")
}
