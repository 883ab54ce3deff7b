package loop

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/peers"
	"github.com/failaware/failaware/leader/epoch"
	"github.com/failaware/failaware/timed"
)

// After a failed write nothing of the turn leaves the node: no state, no packet, no
// report, and no result of a command.
func silentAfterAFailedWrite(t testing.TB) {
	dir := t.TempDir()
	state := stateOf(t, dir, timed.LAN().MaxLockTime)
	before := &epoch.State{Epoch: 1, System: "majority:1,2,3"}
	require.NoError(t, state.WriteEpoch(before))
	l, c := newLoop(func(cfg *Config) {
		cfg.State, cfg.Stack.Epochs = state, before
		cfg.Peers = peers.NewResolver(peers.Options{Self: 1, Changed: func() {}}, []peers.Peer{{ID: 3, Addr: "127.0.0.1:9"}})
	})
	d := l.driver
	for d.stack == nil || !l.Snapshot().Ready {
		step(l, c)
	}
	require.NotZero(t, c.written)
	require.NoError(t, os.RemoveAll(dir))
	written, published, reports := c.written, l.Snapshot(), l.cfg.Sink.(*recorder)
	told := len(reports.events)
	l.do(func(d *driver) {
		d.forceQuorum("majority:1,3", timed.SetOf(2), func(error) { t.Error("the caller was answered") })
	})
	c.advance(time.Second) // a lot is due
	d.turn(nil, l.cfg.Clock.Read())
	require.True(t, d.life.Over())
	require.ErrorIs(t, d.failure, os.ErrNotExist)
	require.Same(t, published, l.Snapshot())
	d.mu.Lock()
	d.finish()
	require.Equal(t, before, l.Snapshot().Epoch)
	require.Equal(t, written, c.written)
	require.Equal(t, told, len(reports.events))
	require.ErrorIs(t, l.Err(), os.ErrNotExist)
}

func TestNothingIsSaidAfterAFailedWrite(t *testing.T) { silentAfterAFailedWrite(t) }

// What a node knows of its epoch binds it after a restart within its process too.
func epochOutlivesIncarnations(t testing.TB) {
	state := stateOf(t, t.TempDir(), timed.LAN().MaxLockTime)
	before := &epoch.State{Epoch: 1, System: "majority:1,2,3"}
	require.NoError(t, state.WriteEpoch(before))
	l, c := newLoop(func(cfg *Config) {
		cfg.State, cfg.Stack.Epochs = state, before
		cfg.Peers = peers.NewResolver(peers.Options{Self: 1, Changed: func() {}}, []peers.Peer{{ID: 3, Addr: "127.0.0.1:9"}})
	})
	d := l.driver
	for d.stack == nil || !l.Snapshot().Ready {
		step(l, c)
	}
	l.do(func(d *driver) { d.forceQuorum("majority:1,3", timed.SetOf(2), func(error) {}) })
	for l.Snapshot().Epoch.Phase != epoch.Wedged {
		step(l, c)
	}
	wedged := *l.Snapshot().Epoch
	d.clock.era--
	d.turn(nil, l.cfg.Clock.Read())
	require.Equal(t, wedged, *l.Snapshot().Epoch)
	for d.stack == nil || !l.Snapshot().Ready {
		step(l, c)
	}
	require.Equal(t, wedged, *l.Snapshot().Epoch)
}

func TestTheEpochOutlivesIncarnations(t *testing.T) { epochOutlivesIncarnations(t) }
