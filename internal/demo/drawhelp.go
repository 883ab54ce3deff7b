package demo

import (
	"fmt"
	"strings"
)

// helpPart is a heading of the help with its text: paragraphs, or lines of keys.
type helpPart struct {
	title string
	text  string
	keys  [][2]string
}

// help explains the picture and the keys.
func help(m *Model) []helpPart {
	return []helpPart{
		{title: "WHAT YOU SEE", text: fmt.Sprintf(`Each node is real: it sends UDP packets, and learns about the others
only from packets. ★ leads. Nodes of one colour are bound to one leader, by votes that end by themselves when the
LEASE is over. A VIEW is the group that its members have agreed on. It is fresh while no other fresh view can share
a member with it, and stale as soon as that is uncertain: each node reads this from its own clock, without asking.
CLOCK is a proven bound of the clock's error, DELAY ≤ a proven bound of a packet's delay. A packet with a bound above
%v is slow, and proves nothing about now.`, m.Timing.FastThreshold)},
		{title: "WHAT YOU CAN DO", keys: [][2]string{
			{fmt.Sprintf("1-%d", len(m.Nodes)), "select or deselect nodes; 0 or Esc: none"},
			{"c  C", "cut or mend the links between them; C: one way, from the first one"},
			{"s  S", "slow these links down, or restore them; S: one way"},
			{"p", "pause them, as SIGSTOP does, or resume them"},
			{"k", "crash them, as SIGKILL does, or restart them"},
			{"x", "split them from the others, or all nodes into halves; again: join"},
			{"h", "mend all links"},
			{"r", "the leader resigns; it may be elected again"},
			{"q", "quit"},
		}, text: "With one node selected, c and s mean all its links."},
		{title: "WHAT TO TRY", text: `Split, and see a leader and a fresh view on each side; heal, and see the two meet.
Pause the leader: its lease ends although it cannot notice. Cut a link one way: neither side counts on the other.
Slow a link: late packets do not count, and no node is misled.`},
	}
}

// drawHelp explains the picture and the keys, in the available lines.
func drawHelp(c *Canvas, m *Model, top, bottom int) {
	width := min(c.Width-2, 100)
	y := top
	put := func(x int, s Style, text string) {
		if y <= bottom {
			c.Put(x, y, s, text)
		}
	}
	for _, part := range help(m) {
		put(1, Style{Tone: Quiet, Bold: true}, part.title)
		y++
		for _, k := range part.keys {
			put(1, Style{Tone: Accent, Bold: true}, k[0])
			for _, line := range wrap(k[1], width-6) {
				put(7, Style{}, line)
				y++
			}
		}
		for _, line := range wrap(part.text, width) {
			put(1, Style{}, line)
			y++
		}
		y++
	}
}

// wrap breaks text into lines between words.
func wrap(text string, width int) (lines []string) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len([]rune(line))+1+len([]rune(word)) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}
