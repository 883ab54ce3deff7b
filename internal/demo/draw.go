package demo

import (
	"fmt"
	"time"

	"github.com/failaware/failaware"
)

// Face is the user's present choice.
type Face struct {
	Selected []failaware.NodeID // in the order of the keys
	Hint     string             // the effect of the last key
	Help     bool
}

// The least size of a useful picture.
const (
	leastWidth  = 44
	leastHeight = 8
)

// Draw makes a picture. From top to bottom: a title, a table of the nodes, the links
// beside the logical partitions, the journal, and two lines about keys. It leaves out
// parts that do not fit, the least important first.
func Draw(m *Model, f *Face, width, height int) *Canvas {
	c := NewCanvas(width, height)
	if width < leastWidth || height < leastHeight {
		c.PutIn(0, 0, width, Style{}, "This needs a larger window.")
		c.PutIn(0, 1, width, Style{}, "q quits.")
		return c
	}
	drawTitle(c, m)
	drawFoot(c, m, f)
	top, bottom := 2, height-3 // the rows between them
	if f.Help {
		drawHelp(c, m, top, bottom)
		return c
	}
	y := drawTable(c, m, f, top, bottom) + 1
	if links := len(m.Nodes) + 2; bottom-y >= links+4 { // at least three entries below
		side := drawLinks(c, m, 1, y)
		if c.Width-side >= partitionsWidth {
			drawPartitions(c, m, side+3, y)
		}
		y += links
	} else if bottom-y >= len(m.Partitions)+6 {
		y = drawPartitions(c, m, 1, y) + 1
	}
	drawLog(c, m, y, bottom)
	return c
}

// drawTitle draws the settings, and whether all invariants have held.
func drawTitle(c *Canvas, m *Model) {
	bar := Style{Tone: Accent, Filled: true}
	state := fmt.Sprintf("checked %s times: all holds   %s ", thousands(m.Rounds), clockText(m.Elapsed))
	what := fmt.Sprintf("%d nodes over UDP on loopback, %s timing", len(m.Nodes), m.Preset)
	switch {
	case len(m.Violations) > 0:
		bar.Tone, state = Bad, "BROKEN: "+m.Violations[0]+" "
	case c.Width < 100:
		state = fmt.Sprintf("all holds  %s ", clockText(m.Elapsed))
	}
	c.Fill(0, 0, c.Width, bar)
	bold := bar
	bold.Bold = true
	x := c.Put(1, 0, bold, "failaware demo")
	if x+3+len(what)+2+len(state) > c.Width {
		what = ""
	}
	if len(m.Violations) > 0 {
		c.PutIn(x+2, 0, c.Width-x-2, bold, state)
		return
	}
	c.Put(x+3, 0, bar, what)
	c.PutRight(c.Width, 0, bar, state)
}

// drawFoot shows the selection, the effect of the last key, and the keys.
func drawFoot(c *Canvas, m *Model, f *Face) {
	x, y := 1, c.Height-2
	if len(f.Selected) > 0 {
		x = c.Put(x, y, Style{Bold: true}, "selected")
		for _, id := range f.Selected {
			x = c.Put(x+1, y, Style{Tone: Accent, Bold: true}, "["+id.String()+"]")
		}
		x += 2
	}
	c.PutIn(x, y, c.Width-x, Style{Tone: Warn}, f.Hint)
	list, gap := keyHelp(len(m.Nodes), c.Width-2)
	x = 1
	for _, k := range list {
		x = c.Put(x, y+1, Style{Tone: Accent, Bold: true}, k[0])
		x = c.Put(x+1, y+1, Style{}, k[1]) + gap
	}
}

// keyHelp returns the keys that fit into a width, with their effects, and the space
// between them. Help and quit are always included.
func keyHelp(nodes, width int) (list [][2]string, gap int) {
	list = [][2]string{{fmt.Sprintf("1-%d", nodes), "select"}, {"c", "cut"}, {"s", "slow"}, {"p", "pause"},
		{"k", "crash/restart"}, {"x", "split"}, {"h", "heal"}, {"r", "resign"}, {"?", "help"}, {"q", "quit"}}
	length := func(gap int) (n int) {
		for _, k := range list {
			n += len(k[0]) + 1 + len(k[1]) + gap
		}
		return n - gap
	}
	if length(2) <= width {
		return list, 2
	}
	list[4][1] = "crash"
	for length(1) > width && len(list) > 2 {
		list = append(list[:len(list)-3], list[len(list)-2:]...)
	}
	return list, 1
}

// drawLog shows the latest entries that fit, the latest at the bottom.
func drawLog(c *Canvas, m *Model, top, bottom int) {
	if bottom <= top {
		return
	}
	x := 8
	who := min(2*len(m.Nodes)+1, 12)
	heading(c, x-7, top, "EVENTS AND THEIR REASONS")
	var list []Entry
	for _, e := range condense(m.Log) {
		if !noise(e.Kind) {
			list = append(list, e)
		}
	}
	list = list[max(len(list)-(bottom-top), 0):]
	for i, e := range list {
		y := top + 1 + i
		c.PutRight(x, y, Style{Tone: Quiet}, fmt.Sprintf("%.2f", e.At.Seconds()))
		if e.Nodes.Empty() {
			c.PutIn(x+2, y, c.Width-x-2, Style{Tone: Warn, Bold: true}, e.Text)
			continue
		}
		names := ids(e.Nodes)
		if e.Nodes.Len() == len(m.Nodes) && len(m.Nodes) > 2 {
			names = "all"
		}
		c.PutIn(x+2, y, who, Style{Tone: Accent}, names)
		c.PutIn(x+3+who, y, c.Width-x-3-who, Style{Tone: toneOf(e.Kind)}, e.Text)
	}
}

// noise reports whether a kind of event adds nothing to the picture.
func noise(kind string) bool {
	switch kind {
	case "ready", "clock-adopted", "clock-stepped", "following":
		return true
	}
	return false
}

// toneOf returns the severity of a kind of event.
func toneOf(kind string) Tone {
	switch kind {
	case "lead-lost", "peer-silent", "view-stale", "clock-fault", "mismatch", "restarted", "unfit", "missed":
		return Bad
	case "elected", "view-fresh", "view-installed":
		return Good
	}
	return Normal
}

func heading(c *Canvas, x, y int, text string) { c.Put(x, y, Style{Tone: Quiet, Bold: true}, text) }

// ids lists ids without braces.
func ids(s failaware.Set) string {
	text := s.String()
	return text[1 : len(text)-1]
}

// clockText formats a time since the beginning.
func clockText(d time.Duration) string {
	s := int(d.Seconds())
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

// thousands formats a number with separators.
func thousands(n uint64) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
