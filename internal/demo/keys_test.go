package demo

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
)

// newControls returns controls over nodes that do not run.
func newControls(t *testing.T, nodes int) *controls {
	w, err := NewWorld(Options{Nodes: nodes, Preset: "local"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.Close()) })
	return &controls{world: w}
}

func (k *controls) typed(keys string) {
	for _, r := range keys {
		k.press(r)
	}
}

// faults returns the directions that are cut or slow.
func (k *controls) faults() (cut, slow []Pair) {
	for _, p := range Both(k.world.All()) {
		if l := k.world.relay.Link(p.From, p.To); l.Cut {
			cut = append(cut, p)
		} else if l.Delay > 0 {
			slow = append(slow, p)
		}
	}
	return cut, slow
}

func TestKeysCutAndSlow(t *testing.T) {
	for keys, want := range map[string]struct{ cut, slow []Pair }{
		"c":     {},
		"12c":   {cut: []Pair{{1, 2}, {2, 1}}},
		"12cc":  {},
		"31C":   {cut: []Pair{{3, 1}}},
		"123C":  {cut: []Pair{{1, 2}, {1, 3}, {2, 3}}},
		"1C":    {cut: []Pair{{1, 2}, {1, 3}}},
		"2c":    {cut: []Pair{{1, 2}, {2, 1}, {2, 3}, {3, 2}}},
		"122c":  {cut: []Pair{{1, 2}, {1, 3}, {2, 1}, {3, 1}}},
		"12s":   {slow: []Pair{{1, 2}, {2, 1}}},
		"12S":   {slow: []Pair{{1, 2}}},
		"12Sss": {},
		"x":     {cut: []Pair{{1, 2}, {1, 3}, {2, 1}, {3, 1}}},
		"xx":    {},
		"3x":    {cut: []Pair{{1, 3}, {2, 3}, {3, 1}, {3, 2}}},
		"123x":  {cut: []Pair{{1, 2}, {1, 3}, {2, 1}, {3, 1}}}, // all selected: halves
		"12c0c": {cut: []Pair{{1, 2}, {2, 1}}},                 // nothing selected
		"12ch":  {},
		"9c":    {},
	} {
		k := newControls(t, 3)
		k.typed(keys)
		cut, slow := k.faults()
		require.ElementsMatch(t, want.cut, cut, keys)
		require.ElementsMatch(t, want.slow, slow, keys)
		require.NotEmpty(t, k.face.Hint, keys)
	}
}

func TestKeysHelpAndQuit(t *testing.T) {
	k := newControls(t, 2)
	k.typed("?")
	require.True(t, k.face.Help)
	k.typed("?")
	require.False(t, k.face.Help)
	k.typed("?1") // other keys keep their effect
	require.False(t, k.face.Help)
	require.Equal(t, []failaware.NodeID{1}, k.face.Selected)
	k.typed("!")
	require.Contains(t, k.face.Hint, "?")
	k.press(keyEscape)
	require.Empty(t, k.face.Selected)
	require.False(t, k.quit)
	k.typed("?q")
	require.True(t, k.quit)
}

func TestKeysStartPauseCrashAndResign(t *testing.T) {
	k := newControls(t, 2)
	k.typed("r")
	require.Contains(t, k.face.Hint, "none")
	k.typed("1p")
	require.Contains(t, k.face.Hint, "does not run")
	k.typed("2k")
	require.NotNil(t, k.world.Node(1))
	require.NotNil(t, k.world.Node(2))
	state := func(id failaware.NodeID) State { return k.world.Look().Nodes[id-1].State }
	var led failaware.BootID
	eventually(t, func() bool {
		led = k.world.Node(1).Leader().Boot
		return led != 0 && state(1) == Up && state(2) == Up
	})

	k.typed("p")
	require.Equal(t, Paused, state(1))
	eventually(t, func() bool { return !k.world.Node(1).Leads() && !k.world.Node(2).View().UpToDate })
	k.typed("1p") // 2 is resumed
	require.Equal(t, Up, state(2))
	k.typed("012k") // crashes 1 although it is paused
	require.Equal(t, Crashed, state(1))
	require.Equal(t, Crashed, state(2))
	k.typed("k")
	require.Contains(t, k.face.Hint, "started")
	eventually(t, func() bool { a := k.world.Node(1).Leader(); return a.Leader != 0 && a.Boot != led })
	follower := 2
	eventually(t, func() bool {
		a, b := k.world.Node(1).Leads(), k.world.Node(2).Leads()
		if b {
			follower = 1
		}
		return a != b
	})
	k.typed("0" + strconv.Itoa(follower) + "r")
	require.NotContains(t, k.face.Hint, "node "+strconv.Itoa(3-follower), "which was not selected")
	eventually(t, func() bool { k.typed("0r"); return k.face.Hint != "none of these nodes leads" })
	require.Contains(t, k.face.Hint, "asked to resign")
}

// eventually waits for a condition that surely comes, even on a busy machine.
func eventually(t *testing.T, ok func() bool) {
	t.Helper()
	require.Eventually(t, ok, time.Minute, time.Millisecond)
}
