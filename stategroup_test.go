package failaware_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/sim/memory"
)

// A node that has led globally by itself in one group, with a state directory that says so, does
// not do so in another group, whose other members have another quorum system.
func TestStateOfAnotherGroupMakesNoGlobalLeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		start := func(net *memory.Network, id failaware.NodeID, group, former, system string) (*failaware.Node, error) {
			q, err := quorum.Parse(system)
			require.NoError(t, err)
			n, err := failaware.Start(t.Context(), failaware.Config{ID: id, Group: group, FormerGroup: former, Transport: net.Transport(), StateDir: dir, Quorum: q})
			if err == nil {
				t.Cleanup(func() { require.NoError(t, n.Close()) })
			}
			return n, err
		}
		alone, err := start(memory.New(memory.Options{}), 1, "scratch", "", "majority:1")
		require.NoError(t, err)
		time.Sleep(time.Second)
		require.True(t, alone.LeadsGlobally())
		require.NoError(t, alone.Close())

		net := memory.New(memory.Options{})
		_, err = start(net, 1, "prod", "", "majority:1,2,3")
		require.ErrorIs(t, err, failaware.ErrGroup)
		require.ErrorContains(t, err, dir)
		var others []*failaware.Node
		for _, id := range []failaware.NodeID{2, 3} {
			n, err := start(net, id, "prod", "", "majority:1,2,3")
			require.NoError(t, err)
			others = append(others, n)
		}
		time.Sleep(time.Second)
		require.True(t, others[0].LeadsGlobally() != others[1].LeadsGlobally())

		renamed, err := start(memory.New(memory.Options{}), 1, "alone", "scratch", "majority:1")
		require.NoError(t, err, "the group has another name now")
		time.Sleep(time.Second)
		require.True(t, renamed.LeadsGlobally())
	})
}
