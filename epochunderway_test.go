package failaware

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/leader/epoch"
)

// While a change is under way, the quorum system that rules still is no success, and neither is
// any other than the proposed one.
func TestAChangeUnderWayIsNoOther(t *testing.T) { changeUnderWay(t) }

func changeUnderWay(t testing.TB) {
	n, _ := leadsAlone(t, Config{StateDir: t.TempDir(), Timing: WAN()}) // whose lead lasts on a busy machine
	missing := system(t, "majority:1,2")                                // node 2 never comes
	ctx, cancel := context.WithCancel(bounded(t))
	ended := make(chan struct{})
	t.Cleanup(func() { cancel(); <-ended })
	rules := n.Epoch()
	go func() {
		defer close(ended)
		_ = n.ChangeQuorum(ctx, missing)
	}()
	eventually(t, "a change is under way", func() bool { return n.Epoch().Next == missing.String() })
	require.ErrorIs(t, n.ChangeQuorum(ctx, system(t, rules.System)), epoch.ErrSystem)
	_, err := n.changed(ctx, rules.Epoch, system(t, "majority:1,3"))
	require.ErrorIs(t, err, ErrSuperseded)
	require.Equal(t, rules.Epoch, n.Epoch().Epoch)
	require.NotEqual(t, epoch.Idle, n.Epoch().Phase)
}
