package store

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/kv"
	"github.com/failaware/failaware/replicate"
)

// renewedLeaseStays has a client renew a lease ten times in its time to live, at node 2, while
// node 1 is cut off and takes writes that wait until it is back. It reports whether all renewals
// found the lease, and then demands that it ends when they have ended.
func renewedLeaseStays(t *testing.T, kind kv.Kind, seed uint64) (stayed bool) {
	const ttl, every = time.Second, 100 * time.Millisecond
	synctest.Test(t, func(t *testing.T) {
		g := startGroup(t, kind, 3, seed)
		defer g.close()
		r, err := g.stores[1].Submit(within(t, 5*time.Second), kv.Command{Op: kv.Put, Key: "held", TTL: ttl}, api.Attempt{})
		require.NoError(t, err)
		stayed = true
		var renewed time.Time // before this, by a renewal that was acknowledged
		renew := func(d time.Duration) {
			for began := time.Now(); time.Since(began) < d; time.Sleep(every) {
				sent := time.Now()
				a, err := g.stores[1].Submit(within(t, 2*time.Second), kv.Command{Op: kv.Renew, Lease: r.Lease}, api.Attempt{})
				switch {
				case err != nil:
				case a.Status == kv.Done:
					renewed = sent
				case time.Since(renewed) < ttl:
					stayed = false
				}
			}
		}
		renew(ttl / 2)
		g.net.Partition([]failaware.NodeID{1})
		for range 4 {
			renew(ttl * 4 / 5)
			go func() {
				_, _ = g.stores[0].Submit(within(t, 25*time.Second), kv.Command{Op: kv.Put, Key: "waits"}, api.Attempt{})
			}()
		}
		g.net.Heal()
		renew(3 * ttl)
		require.Equal(t, "", g.get(1, "waits"))
		time.Sleep(2 * ttl)
		require.Equal(t, "-", g.get(1, "held"))
	})
	return stayed
}

// What waited at a node that was cut off ends no lease that is renewed.
func TestLeasesThatAreRenewedStay(t *testing.T) {
	for seed := range uint64(4) {
		require.True(t, renewedLeaseStays(t, kv.Linearizable, seed), "seed %d", seed)
		require.True(t, renewedLeaseStays(t, kv.Partitionable, seed), "seed %d", seed)
	}
}

// saysInMixedViews reports whether nodes say what they have seen, as their state shows, while
// their view has a member of another build, and when it has none any more.
func saysInMixedViews(t *testing.T) (mixed, alike bool) {
	synctest.Test(t, func(t *testing.T) {
		g := startGroup(t, kv.Linearizable, 3, 1)
		defer g.close()
		said := func() bool {
			var b bytes.Buffer
			g.stores[1].replica.Read(func() { require.NoError(t, g.stores[1].app.state.Snapshot(&b)) })
			return bytes.Contains(b.Bytes(), []byte("failaware kv 2"))
		}
		view := g.stores[0].node.View().View.ID
		for _, s := range g.stores {
			s.noteEvent(replicate.Differs{View: view, Member: 9, Setting: "HashEvery"})
		}
		g.put(0, "a", "1", time.Second)
		require.Equal(t, "1", g.get(1, "a"))
		time.Sleep(2 * time.Second)
		require.Equal(t, "-", g.get(1, "a"), "leases end all the same")
		g.put(0, "a", "1", time.Minute)
		time.Sleep(time.Second)
		mixed = said()
		g.net.Partition([]failaware.NodeID{3})
		g.settle()
		alike = said()
		require.Equal(t, "1", g.get(0, "a"))
	})
	return mixed, alike
}

// A group whose nodes are replaced one after the other goes over to new rules when the last one
// has been replaced.
func TestMixedGroupsKeepToTheFormerRules(t *testing.T) {
	mixed, alike := saysInMixedViews(t)
	require.False(t, mixed)
	require.True(t, alike)
}

// A node says what it has seen only of a state that lasts. That of a node that is cut off may give
// way to another one, which has other commands in its place.
func TestANodeSaysNothingOfAStateThatMayGiveWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := startGroup(t, kv.Linearizable, 3, 1)
		defer g.close()
		g.put(0, "a", "1", time.Minute)
		require.NotZero(t, g.stores[0].lasting(t.Context()))
		g.net.Partition([]failaware.NodeID{1})
		g.settle()
		require.Zero(t, g.stores[0].lasting(t.Context()))
		require.NotZero(t, g.stores[1].lasting(t.Context()))
	})
}

// TestMembersStandInOneAfterTheOther has leases that do not end, whoever acts: each member acts
// again as late as at first.
func TestMembersStandInOneAfterTheOther(t *testing.T) {
	for rank, every := range []int{1, standIn + 1, 2*standIn + 1} {
		var l lateness
		for look := 1; look <= 10*every; look++ {
			require.Equal(t, look%every == 0, l.acts(rank), "rank %d, look %d", rank, look)
		}
	}
}
