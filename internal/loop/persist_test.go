package loop

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/life"
	"github.com/failaware/failaware/internal/loop/statedir"
	"github.com/failaware/failaware/leader/epoch"
	"github.com/failaware/failaware/timed"
)

// warned is a sink that acts on the first warning.
type warned struct {
	*recorder
	first func()
}

func (w *warned) Warn(text string, args ...any) {
	w.recorder.Warn(text, args...)
	if len(w.warnings) == 1 {
		w.first()
	}
}

// exhausted has a node write the sequence of a view, and then its epoch, while its process can open
// no more files. Meanwhile it says nothing, and it goes on when it can.
func exhausted(t testing.TB) {
	dir := t.TempDir()
	state := stateOf(t, dir, timed.LAN().MaxLockTime)
	first := &epoch.State{Epoch: 1, System: "majority:1,2,3"}
	require.NoError(t, state.WriteEpoch(first))
	reports := &recorder{}
	l, c := newLoop(func(cfg *Config) { cfg.State, cfg.Stack.Epochs, cfg.Sink = state, first, reports })
	stands := func(file string, until func() bool) {
		reports.warnings = nil
		written, published, told := 0, l.Snapshot(), 0
		restore := withoutFiles(t)
		defer restore()
		l.cfg.Sink = &warned{reports, func() {
			restore()
			require.Same(t, published, l.Snapshot(), file)
			require.Equal(t, []int{written, told}, []int{c.written, len(reports.events)}, file)
		}}
		for !until() && !l.driver.life.Over() {
			written, published, told = c.written, l.Snapshot(), len(reports.events)
			step(l, c)
		}
		require.NoError(t, l.driver.failure)
		require.Len(t, reports.warnings, 2, "that it stands, and that it goes on")
		require.Contains(t, reports.warnings[0], file)
		require.Contains(t, reports.warnings[0], "too many open files")
	}
	stands("node-1.state", func() bool {
		known, err := statedir.FormerViews(dir, 1)
		return err == nil && known > 0
	})
	l.do(func(d *driver) { d.forceQuorum("majority:1,3", timed.SetOf(2), func(error) {}) })
	stands("node-1.epoch", func() bool { return l.Snapshot().Epoch.Phase == epoch.Wedged })
	kept, err := state.ReadEpoch(statedir.Configured{})
	require.NoError(t, err)
	require.Equal(t, l.Snapshot().Epoch, kept)
}

func TestANodeWaitsForDescriptors(t *testing.T) { exhausted(t) }

// countedExhausted ends an incarnation while the process can open no more files. The end is known at
// once, and the next incarnation waits until it has a number of its own: with that of the one
// before, its votes could not be compared with those.
func countedExhausted(t testing.TB) {
	l, c, _ := inEpoch1(t, t.TempDir())
	for l.Snapshot().ValidUntil == 0 {
		step(l, c)
	}
	d, before, reports := l.driver, l.cfg.State.Incarnation(), l.cfg.Sink.(*recorder)
	restore := withoutFiles(t)
	defer restore()
	l.cfg.Sink = &warned{reports, func() {
		restore()
		require.Zero(t, l.Snapshot().ValidUntil)
	}}
	d.restart(life.Suspended, c.instant(), d.clock.era)
	require.Equal(t, before+1, l.cfg.State.Incarnation())
	require.Len(t, reports.warnings, 2)
}

func TestANumberWaitsForDescriptors(t *testing.T) { countedExhausted(t) }

// closedExhausted closes a node that stands because its process can open no more files. That is no
// failure, and it says no more.
func closedExhausted(t testing.TB) {
	l, c, before := inEpoch1(t, t.TempDir())
	d, written := l.driver, c.written
	reports := l.cfg.Sink.(*recorder)
	defer withoutFiles(t)()
	l.cfg.Sink = &warned{reports, l.Close}
	l.do(func(d *driver) {
		d.forceQuorum("majority:1,3", timed.SetOf(2), func(error) { t.Error("the caller was answered") })
	})
	step(l, c)
	require.True(t, d.life.Over())
	d.mu.Lock()
	d.finish()
	require.NoError(t, l.Err())
	require.Equal(t, before, l.Snapshot().Epoch)
	require.Equal(t, written, c.written)
}

func TestANodeThatWaitsForDescriptorsIsClosed(t *testing.T) { closedExhausted(t) }
