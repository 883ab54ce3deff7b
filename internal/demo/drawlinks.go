package demo

import (
	"fmt"
	"strings"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/event"
)

const (
	linkWidth       = 8
	partitionsWidth = 26
)

// drawLinks draws a matrix of delays, with a line for each receiver, and returns the
// column after it.
func drawLinks(c *Canvas, m *Model, x, y int) int {
	heading(c, x, y, "DELAY ≤")
	left := x + 9
	for i := range m.Nodes {
		c.PutRight(left+(i+1)*linkWidth-1, y, Style{Tone: Quiet, Bold: true}, fmt.Sprintf("from %d", i+1))
	}
	for i := range m.Nodes {
		to := &m.Nodes[i]
		row := y + 1 + i
		c.Put(x, row, Style{Tone: partitionTone(to.Partition), Bold: true}, fmt.Sprintf("at %v", to.ID))
		for j := range m.Nodes {
			text, style := "·", Style{Tone: Quiet}
			if i != j {
				text, style = hearingText(to, &to.Hears[j])
			}
			c.PutRight(left+(j+1)*linkWidth-1, row, style, text)
		}
	}
	return left + len(m.Nodes)*linkWidth
}

// hearingText is a cell of the matrix: a proven bound, and the faults of the link.
func hearingText(to *NodeModel, h *Hearing) (string, Style) {
	if to.State == Crashed || to.State == Failed {
		return "", Style{}
	}
	style := Style{Tone: Good}
	text := short(h.Bound)
	switch {
	case to.State == Paused:
		style.Tone = Quiet // from before the silence
	case !h.Known || !h.Alive && h.Bound == event.UnknownDelay:
		text, style.Tone = "–", Bad
	case !h.Alive && h.Fast:
		text, style.Tone = "silent", Bad
	case !h.Fast:
		style.Tone = Warn
	}
	switch {
	case h.Link.Cut:
		return "× cut", Style{Tone: Bad, Bold: true}
	case h.Link.Delay > 0:
		return "~" + strings.ReplaceAll(text, " ", ""), Style{Tone: Warn, Bold: true}
	}
	return text, style
}

// drawPartitions draws each logical partition as a field of its colour, and returns the row
// below.
func drawPartitions(c *Canvas, m *Model, x, y int) int {
	heading(c, x, y, "LOGICAL PARTITIONS")
	for i, p := range m.Partitions {
		y++
		field := Style{Tone: partitionTone(i), Filled: true, Bold: true}
		col := c.Put(x, y, field, "[")
		for id := range p.Nodes.All() {
			name := fmt.Sprintf("  %v ", id)
			if id == p.Leader {
				name = fmt.Sprintf(" ★%v ", id)
			}
			col = c.Put(col, y, field, name)
		}
		col = c.Put(col, y, field, "]")
		text, style := partitionView(m, p)
		c.PutIn(col+1, y, c.Width-col-1, style, text)
	}
	var alone failaware.Set
	for i := range m.Nodes {
		if n := &m.Nodes[i]; n.Partition < 0 && n.State != Crashed && n.State != Failed {
			alone.Add(n.ID)
		}
	}
	if !alone.Empty() {
		y++
		c.Put(x, y, Style{Tone: Warn}, fmt.Sprintf("without a leader: %s", ids(alone)))
	}
	return y + 1
}

// partitionView returns a text, with its style, on whether the members of a partition agree
// on a view.
func partitionView(m *Model, p Partition) (string, Style) {
	lead := &m.Nodes[p.Leader-1].View
	fresh := 0
	for id := range p.Nodes.All() {
		if v := &m.Nodes[id-1].View; v.UpToDate && installed(lead.View) && v.View.ID == lead.View.ID {
			fresh++
		}
	}
	switch {
	case fresh == 0:
		return "no fresh view", Style{Tone: Bad}
	case fresh == p.Nodes.Len() && lead.View.Set == p.Nodes:
		return "fresh view", Style{Tone: Good}
	case fresh < p.Nodes.Len():
		return fmt.Sprintf("view fresh at %d of %d", fresh, p.Nodes.Len()), Style{Tone: Warn}
	}
	return fmt.Sprintf("fresh view %v", lead.View.Set), Style{Tone: Good}
}
