package demo

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/gdamore/tcell/v2"
)

// redrawEvery is the interval between two pictures.
const redrawEvery = 100 * time.Millisecond

// Interactive shows the world on the terminal, and performs the actions of keys, until
// the user quits or ctx is done. It restores the terminal before it returns.
func Interactive(ctx context.Context, w *World) error {
	screen, err := tcell.NewScreen()
	if err != nil {
		return fmt.Errorf("cannot open the terminal: %w", err)
	}
	if err := screen.Init(); err != nil {
		return fmt.Errorf("cannot open the terminal: %w", err)
	}
	return show(ctx, w, screen, os.Getenv("NO_COLOR") != "")
}

// show runs the picture on a screen that is ready.
func show(ctx context.Context, w *World, screen tcell.Screen, noColor bool) error {
	defer screen.Fini() // even after a panic
	screen.HideCursor()
	inputs, stop := make(chan tcell.Event, 16), make(chan struct{})
	defer close(stop)
	go screen.ChannelEvents(inputs, stop)
	k := controls{world: w, face: Face{Hint: "The nodes find each other. Press x to split them, h to heal, ? for help."}}
	tick := time.NewTicker(redrawEvery)
	defer tick.Stop()
	for !k.quit {
		paint(screen, w, &k.face, noColor)
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		case e, ok := <-inputs:
			if !ok {
				return nil
			}
			input(screen, &k, e)
		}
	}
	return nil
}

// input takes an event of the terminal.
func input(screen tcell.Screen, k *controls, e tcell.Event) {
	switch e := e.(type) {
	case *tcell.EventResize:
		screen.Sync()
	case *tcell.EventKey:
		switch e.Key() {
		case tcell.KeyRune:
			k.press(e.Rune())
		case tcell.KeyEscape:
			k.press(keyEscape)
		case tcell.KeyCtrlC:
			k.press(keyCtrlC)
		case tcell.KeyCtrlL:
			screen.Sync()
		}
	}
}

// paint draws the picture. The screen sends only changes.
func paint(screen tcell.Screen, w *World, f *Face, noColor bool) {
	width, height := screen.Size()
	m := w.Look()
	c := Draw(&m, f, width, height)
	for y := range c.Height {
		for x := range c.Width {
			cell := c.At(x, y)
			screen.SetContent(x, y, cell.Rune, nil, look(cell.Style, noColor))
		}
	}
	screen.Show()
}

// palette maps tones to colours of a 256-colour terminal, which are readable on dark and
// light backgrounds. A terminal with fewer colours shows the nearest ones.
var palette = map[Tone]int{
	Quiet: 244, Good: 34, Warn: 172, Bad: 160, Accent: 67,
	Group: 33, Group + 1: 166, Group + 2: 134, Group + 3: 36, Group + 4: 168, Group + 5: 106,
}

// look returns the terminal's style for a style.
func look(s Style, noColor bool) tcell.Style {
	style := tcell.StyleDefault.Bold(s.Bold)
	if noColor {
		return style.Reverse(s.Filled).Dim(s.Tone == Quiet)
	}
	color, ok := palette[s.Tone]
	switch {
	case s.Filled && ok:
		return style.Background(tcell.PaletteColor(color)).Foreground(tcell.PaletteColor(15))
	case s.Filled:
		return style.Reverse(true)
	case ok:
		return style.Foreground(tcell.PaletteColor(color))
	}
	return style
}
