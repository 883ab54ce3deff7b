package loop

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/life"
	"github.com/failaware/failaware/timed"
)

// Each incarnation has a number of its own in the state directory, before it says
// anything: stamps of its votes compare by it.
func TestEachIncarnationIsCounted(t *testing.T) { eachIsCounted(t) }

func eachIsCounted(t testing.TB) {
	state := stateOf(t, t.TempDir(), timed.LAN().MaxLockTime)
	l, c := newLoop(func(cfg *Config) { cfg.State = state })
	d := l.driver
	for d.stack == nil {
		step(l, c)
	}
	first := state.Incarnation()
	require.Equal(t, first, d.cfg.Starts)
	l.driver.clock.era--
	d.turn(nil, l.cfg.Clock.Read())
	require.Equal(t, []life.Reason{life.Suspended}, l.cfg.Sink.(*recorder).restarts)
	require.Equal(t, first+1, state.Incarnation())
	for d.stack == nil {
		step(l, c)
	}
	require.Equal(t, first+1, d.cfg.Starts)
}

// A node that cannot write down which views it may take part in takes part in none: the
// turn is neither published nor said.
func TestNoViewBeforeItsSequenceIsWritten(t *testing.T) { noUnwrittenView(t) }

func noUnwrittenView(t testing.TB) {
	dir := t.TempDir()
	state := stateOf(t, dir, timed.LAN().MaxLockTime)
	l, c := newLoop(func(cfg *Config) { cfg.State = state })
	d := l.driver
	for d.stack == nil {
		step(l, c)
	}
	require.NoError(t, os.RemoveAll(dir))
	for range 1000 {
		if d.life.Over() {
			break
		}
		step(l, c)
	}
	require.True(t, d.life.Over())
	require.False(t, d.life.MaySpeak())
	require.ErrorIs(t, d.failure, os.ErrNotExist)
	require.Nil(t, l.Snapshot().View)
	require.Greater(t, c.instant(), timed.Instant(time.Hour))
}
