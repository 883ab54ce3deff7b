package demo

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/event"
)

// column is a column of the table of nodes.
type column struct {
	title string
	width int
	rank  int // columns of the highest rank are left out first
	text  func(m *Model, n *NodeModel) (string, Style)
}

// columns returns the columns that fit into a width.
func columns(m *Model, width int) []column {
	all := []column{
		{"STATE", 14, 0, stateText},
		{"FOLLOWS", 9, 0, followsText},
		{"LEASE", 7, 2, leaseText},
		{"LEFT", 10, 5, leaseBar},
		{"VIEW", 9 + 2*len(m.Nodes), 1, viewText},
		{"UP TO DATE", 16, 0, freshText},
		{"CLOCK", 10, 3, clockBound},
		{"REALLY OFF", 12, 6, clockOffset},
		{"LATE", 6, 7, lateText},
	}
	for rank := 9; rank > 0; rank-- {
		total := 0
		for _, k := range all {
			total += k.width
		}
		if total+tableLeft <= width+2 { // the last column may lose its gap
			break
		}
		all = slices.DeleteFunc(all, func(k column) bool { return k.rank == rank })
	}
	return all
}

// tableLeft is the width of the columns that identify a node.
const tableLeft = 9

// drawTable draws a line for each node that fits, and returns the row below.
func drawTable(c *Canvas, m *Model, f *Face, y, bottom int) int {
	list := columns(m, c.Width)
	heading(c, 2, y, "NODE")
	x := tableLeft
	for _, k := range list {
		heading(c, x, y, k.title)
		x += k.width
	}
	for i := range m.Nodes {
		if y == bottom {
			break
		}
		y++
		n := &m.Nodes[i]
		drawName(c, n, f, y)
		x := tableLeft
		for _, k := range list {
			text, style := k.text(m, n)
			c.PutIn(x, y, k.width-1, style, text)
			x += k.width
		}
	}
	return y + 1
}

// drawName draws the marks of a node: its partition, whether it is selected, its
// id, and a star if it leads.
func drawName(c *Canvas, n *NodeModel, f *Face, y int) {
	tone := partitionTone(n.Partition)
	c.Put(0, y, Style{Tone: tone}, "▌")
	name := fmt.Sprintf(" %v ", n.ID)
	style := Style{Tone: tone, Bold: true}
	if slices.Contains(f.Selected, n.ID) {
		name = fmt.Sprintf("[%v]", n.ID)
		style = Style{Tone: Accent, Bold: true, Filled: true}
	}
	c.Put(2, y, style, name)
	if n.Leader.Leads {
		c.Put(6, y, Style{Tone: tone, Bold: true}, "★")
	}
}

func partitionTone(i int) Tone {
	if i < 0 {
		return Quiet
	}
	return Group + Tone(i%Groups)
}

func stateText(_ *Model, n *NodeModel) (string, Style) {
	switch n.State {
	case Up:
		return "up", Style{Tone: Good}
	case Starting:
		return "starting", Style{Tone: Warn}
	case Failed:
		return "stopped", Style{Tone: Bad, Bold: true}
	}
	return fmt.Sprintf("%v %s", n.State, since(n.For)), Style{Tone: Bad, Bold: true}
}

func followsText(_ *Model, n *NodeModel) (string, Style) {
	style := Style{Tone: partitionTone(n.Partition)}
	switch {
	case n.Leader.Leads:
		style.Bold = true
		return "leads", style
	case n.Leader.UpToDate:
		return fmt.Sprintf("node %v", n.Leader.Leader), style
	case n.State == Crashed || n.State == Failed:
		return "", style
	}
	return "none", Style{Tone: Warn}
}

func leaseText(_ *Model, n *NodeModel) (string, Style) {
	if !n.Leader.UpToDate {
		return "", Style{}
	}
	return short(n.Leader.AtMost), Style{}
}

// leaseBar shows the rest of the lease as a share of the longest possible one.
func leaseBar(m *Model, n *NodeModel) (string, Style) {
	const width = 8
	if !n.Leader.UpToDate {
		return "", Style{}
	}
	full := int(math.Ceil(float64(n.Leader.AtMost) / float64(m.Timing.LockTime) * width))
	full = min(max(full, 0), width)
	return strings.Repeat("━", full) + strings.Repeat("·", width-full), Style{Tone: partitionTone(n.Partition)}
}

// installed reports whether a node has a view. The model of a node that does not run
// has none.
func installed(v *failaware.View) bool { return v != nil && !v.ID.None() }

func viewText(_ *Model, n *NodeModel) (string, Style) {
	v := n.View.View
	if !installed(v) || n.State == Crashed || n.State == Failed {
		return "", Style{}
	}
	style := Style{Tone: Quiet}
	if n.View.UpToDate {
		style.Tone = Normal
	}
	return fmt.Sprintf("%d@%v %v", v.ID.Sequence, v.ID.Leader, v.Set), style
}

func freshText(_ *Model, n *NodeModel) (string, Style) {
	switch {
	case n.State == Crashed || n.State == Failed || !installed(n.View.View) && n.State == Starting:
		return "", Style{}
	case !installed(n.View.View):
		return "no view yet", Style{Tone: Warn}
	case n.View.UpToDate:
		return "fresh, " + short(n.View.AtMost), Style{Tone: Good, Bold: true}
	}
	return "stale for " + since(n.StaleFor), Style{Tone: Bad, Bold: true}
}

func clockBound(_ *Model, n *NodeModel) (string, Style) {
	switch d := n.Clock.Deviation; {
	case n.State == Crashed || n.State == Failed:
		return "", Style{}
	case d == math.MaxInt64:
		return "unknown", Style{Tone: Warn}
	case n.Clock.Status == 0 || n.Clock.Holdover || !n.Leader.UpToDate: // no leader keeps it synchronized
		return "±" + short(d), Style{Tone: Warn}
	default:
		return "±" + short(d), Style{Tone: Good}
	}
}

func clockOffset(_ *Model, n *NodeModel) (string, Style) {
	if !n.OffsetKnown || n.Leader.Leads {
		return "", Style{}
	}
	sign := ""
	if n.Offset >= 0 {
		sign = "+"
	}
	return sign + short(n.Offset), Style{Tone: Quiet}
}

func lateText(_ *Model, n *NodeModel) (string, Style) {
	if n.Late == 0 {
		return "", Style{}
	}
	return fmt.Sprint(n.Late), Style{Tone: Quiet}
}

// short writes a duration in at most seven characters.
func short(d time.Duration) string {
	switch a := d.Abs(); {
	case d == event.UnknownDelay:
		return "?"
	case a < 10*time.Microsecond:
		return fmt.Sprintf("%.1f µs", float64(d)/1e3)
	case a < time.Millisecond:
		return fmt.Sprintf("%d µs", d.Microseconds())
	case a < 10*time.Millisecond:
		return fmt.Sprintf("%.1f ms", float64(d)/1e6)
	case a < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case a < 10*time.Second: // six characters, for which a column has room
		return fmt.Sprintf("%.2f s", d.Truncate(10*time.Millisecond).Seconds())
	}
	return fmt.Sprintf("%.0f s", d.Seconds())
}

// since formats the time since an event.
func since(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	if d < time.Minute {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return clockText(d)
}
