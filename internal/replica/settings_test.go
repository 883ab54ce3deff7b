package replica

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/leader/quorum"
)

// mixedStorage has nodes with and without a disk meet: none goes on, each names those that
// are not like it, and the view goes on as soon as they part.
func mixedStorage(t testing.TB) {
	for _, q := range []quorum.System{majority(1, 2, 3), nil} {
		w := newWorld(3, Config{Stored: true, Quorum: q})
		w.install(0, 1, 2)
		w.op(0, "a")
		w.cfg.Stored, w.cfg.HashEvery = false, 8
		w.restart(2, 1)
		w.install(0, 1, 2)
		w.op(0, "b")
		for i, n := range w.nodes {
			require.Equal(t, Mixed, n.r.Situation())
			require.False(t, n.r.Accepting())
			require.Equal(t, i == 2, n.withdrawn, "only the newcomer ends")
			want := []Event{
				{Kind: EventDiffers, View: n.view.ID, Member: 3, Setting: "Storage", Here: "set", There: "not set"},
				{Kind: EventDiffers, View: n.view.ID, Member: 3, Setting: "HashEvery", Here: "0", There: "8"},
			}
			if i == 2 {
				want = []Event{
					{Kind: EventDiffers, View: n.view.ID, Member: 1, Setting: "Storage", Here: "not set", There: "set"},
					{Kind: EventDiffers, View: n.view.ID, Member: 1, Setting: "HashEvery", Here: "8", There: "0"},
					{Kind: EventDiffers, View: n.view.ID, Member: 2, Setting: "Storage", Here: "not set", There: "set"},
					{Kind: EventDiffers, View: n.view.ID, Member: 2, Setting: "HashEvery", Here: "8", There: "0"},
				}
			}
			require.Equal(t, want, n.events[len(n.events)-len(want):])
		}
		require.Equal(t, "a", w.nodes[0].app, "b is of no state")
		w.install(0, 1)
		w.op(0, "c")
		require.Equal(t, Working, w.nodes[0].r.Situation())
		require.Equal(t, w.nodes[0].app, w.nodes[1].app)
		require.Contains(t, w.nodes[0].app, "c")
	}
}

// mixedLoner has a newcomer lead alone, where nobody operates, before it meets those that have a
// state. It has nothing that could compete.
func mixedLoner(t testing.TB) {
	w := newWorld(3, Config{Stored: true})
	w.install(0, 1)
	w.op(0, "a")
	w.cfg.Stored = false
	w.restart(2, 1)
	w.install(2)
	require.Equal(t, Working, w.nodes[2].r.Situation())
	w.install(0, 1, 2)
	for i, n := range w.nodes {
		require.Equal(t, i == 2, n.withdrawn, "only the newcomer ends: %d", i)
	}
}

func TestAMixedNewcomerThatLedAloneEnds(t *testing.T) { mixedLoner(t) }

// A newcomer that led alone for a while, and applied nothing, takes the state of the others:
// nothing is merged with it.
func TestALonersInitialStateDoesNotCompete(t *testing.T) {
	for _, stored := range []bool{false, true} {
		w := newWorld(3, Config{Stored: stored})
		w.install(0, 1)
		w.op(0, "a")
		w.install(2)
		w.install(0, 1, 2)
		w.op(2, "b")
		for _, n := range w.nodes {
			require.Equal(t, "ab", n.app)
			require.Equal(t, Working, n.r.Situation())
		}
	}
}

// mixedStates has two states meet, one of them on disks. Neither may give way to the other, so
// no node ends.
func mixedStates(t testing.TB) {
	w := newWorld(3, Config{Stored: true})
	w.install(0, 1)
	w.op(0, "a")
	w.cfg.Stored = false
	w.restart(2, 1)
	w.install(2)
	w.op(2, "b")
	w.install(0, 1, 2)
	for _, n := range w.nodes {
		require.Equal(t, Mixed, n.r.Situation())
		require.False(t, n.withdrawn)
	}
	require.Equal(t, "b", w.nodes[2].app)
}

func TestMixedStatesEndNobody(t *testing.T) { mixedStates(t) }

// mixedBeginning has nodes without a state begin, some with disks. It is not known which is wrong.
func mixedBeginning(t testing.TB) {
	w := newWorld(3, Config{Stored: true})
	w.cfg.Stored = false
	w.restart(2, 1)
	w.install(0, 1, 2)
	for _, n := range w.nodes {
		require.Equal(t, Mixed, n.r.Situation())
		require.False(t, n.withdrawn)
	}
}

func TestAMixedBeginningEndsNobody(t *testing.T) { mixedBeginning(t) }

func TestNodesWithAndWithoutStorageDoNotGoOn(t *testing.T) { mixedStorage(t) }

// A member of an earlier build says no settings.
func TestUnsaidSettingsCountAsRight(t *testing.T) {
	w := newWorld(2, Config{Stored: true})
	w.hold = func(from int, payload []byte) bool { return from == 1 && kind(payload[0]) == kindSettings }
	w.install(0, 1)
	w.op(0, "a")
	all(t, w, "a", 0, 1)
}
