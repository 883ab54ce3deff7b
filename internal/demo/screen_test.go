package demo

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/gdamore/tcell/v2"
	"github.com/stretchr/testify/require"
)

// recorder is a screen for tests that can be read during drawing.
type recorder struct {
	tcell.SimulationScreen
	mu   sync.Mutex
	text string
}

func (r *recorder) Show() {
	r.SimulationScreen.Show()
	cells, width, _ := r.GetContents()
	var b strings.Builder
	for i, c := range cells {
		if i > 0 && i%width == 0 {
			b.WriteByte('\n')
		}
		if len(c.Runes) > 0 {
			b.WriteRune(c.Runes[0])
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.text = b.String()
}

func (r *recorder) shows(what string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Contains(r.text, what)
}

func TestScreenShowsTheWorldAndObeysKeys(t *testing.T) {
	w, err := NewWorld(Options{Nodes: 3, Preset: "local"})
	require.NoError(t, err)
	defer func() { require.NoError(t, w.Close()) }()
	screen := &recorder{SimulationScreen: tcell.NewSimulationScreen("UTF-8")}
	require.NoError(t, screen.Init())
	screen.SetSize(100, 30)
	ended := make(chan error)
	go func() { ended <- show(t.Context(), w, screen, true) }()
	shows := func(what string) {
		t.Helper()
		eventually(t, func() bool { return screen.shows(what) })
	}
	shows("The nodes find each other")
	require.NoError(t, w.StartAll())
	shows("fresh view")
	screen.InjectKey(tcell.KeyRune, '3', tcell.ModNone)
	shows("selected [3]")
	screen.InjectKey(tcell.KeyRune, 'k', tcell.ModNone)
	shows("crashed")
	shows("node 3 is crashed, as by SIGKILL")
	screen.InjectKey(tcell.KeyEscape, 0, tcell.ModNone)
	screen.InjectKey(tcell.KeyRune, '?', tcell.ModNone)
	shows("WHAT YOU CAN DO")
	screen.InjectKey(tcell.KeyCtrlL, 0, tcell.ModNone)
	screen.InjectKey(tcell.KeyCtrlC, 0, tcell.ModNone)
	require.NoError(t, <-ended)
}

func TestScreenEndsWithItsContext(t *testing.T) {
	w, err := NewWorld(Options{Nodes: 2, Preset: "lan"})
	require.NoError(t, err)
	defer func() { require.NoError(t, w.Close()) }()
	screen := tcell.NewSimulationScreen("UTF-8")
	require.NoError(t, screen.Init())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, show(ctx, w, screen, false))
}

// Without colours, the picture shows by other means everything that colours show.
func TestLooks(t *testing.T) {
	for _, s := range []Style{{Tone: Bad}, {Tone: Group + 1, Bold: true}, {Tone: Accent, Filled: true}} {
		fg, bg, _ := look(s, true).Decompose()
		require.Equal(t, tcell.ColorDefault, fg)
		require.Equal(t, tcell.ColorDefault, bg)
		require.NotEqual(t, look(s, true), look(s, false))
	}
	_, _, attr := look(Style{Tone: Accent, Filled: true}, true).Decompose()
	require.NotZero(t, attr&tcell.AttrReverse)
	require.Equal(t, tcell.StyleDefault, look(Style{}, false))
}
