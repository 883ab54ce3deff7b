package diagram

import (
	"fmt"
	"strings"
)

// A legendEntry explains one class of elements by a sample of it.
type legendEntry struct {
	key, text string
	width     float64        // of the sample
	sample    func(at point) // draws it with at in the middle of its left side
}

// legend explains, below the axis, the classes that the picture has.
func (d *drawing) legend() {
	x := float64(margin)
	d.y += legendRow / 2
	first := true
	for _, e := range d.entries() {
		if !d.seen[e.key] {
			continue
		}
		width := e.width + 6 + legendType.Width(e.text)
		if !first && x+width > d.time.x1+plotRight-margin {
			x = margin
			d.y += legendRow
		}
		first = false
		e.sample(point{x, d.y})
		d.scene.write(layerLegend, "legendtext", e.text, x+e.width+6, d.y+0.36*legendType.Size, legendType, inkMid, "")
		x += width + 20
	}
	d.y += legendRow / 2
}

func (d *drawing) entries() []legendEntry {
	bar := func(half float64, st style) func(point) {
		return func(at point) {
			d.scene.box(layerLegend, "sample", rect{at.x, at.y - half, at.x + legendSample, at.y + half}, 2, st, "")
		}
	}
	hatched := func(back, ink, edge style) func(point) {
		return func(at point) {
			r := rect{at.x, at.y - 6, at.x + legendSample, at.y + 6}
			d.scene.box(layerLegend, "sample", r, 2, style{fill: back.fill, stroke: edge.stroke, width: 0.75, dash: edge.dash}, "")
			d.scene.add(layerLegend, element{class: "sample", path: hatch(r, hatchGap), style: ink})
		}
	}
	message := func(m Message) func(point) {
		return func(at point) {
			d.arrow(layerLegend, "sample", at, point{at.x + legendSample - 4, at.y}, messageStyle(&m, 0.95), m.Fate, "")
		}
	}
	mark := func(k MarkKind) func(point) {
		return func(at point) { d.symbol(layerLegend, k, point{at.x + legendMark/2, at.y + 2}, "") }
	}
	vertical := func(st style) func(point) {
		return func(at point) {
			x := at.x + legendMark/2
			d.scene.line(layerLegend, "sample", point{x, at.y - 7}, point{x, at.y + 7}, st, "")
		}
	}
	colours := func(half float64) func(point) {
		return func(at point) { d.swatches(at, half) }
	}
	pale := toward(views[0], white, 0.72)
	edge := toward(views[0], inkDark, 0.35)
	return []legendEntry{
		{"violation line", "violation", legendMark, vertical(style{stroke: violation, width: 2.5})},
		{"lead", "leads, with its supporters: a colour per leader", legendSample, colours(7)},
		{"lock", "vote, bound to the leader of that colour", legendSample, colours(2.5)},
		{"view", "view, up to date", legendSample, bar(6, style{fill: views[0], stroke: edge, width: 0.75})},
		{"stale", "view, stale", legendSample, hatched(style{fill: pale}, style{stroke: toward(views[0], inkDark, 0.15), width: 0.8},
			style{stroke: edge, dash: []float64{2.5, 1.5}})},
		{"down", "down", legendSample, bar(6, style{fill: downFill})},
		{"stalled", "stalled", legendSample, hatched(style{fill: white}, style{stroke: inkFaint, width: 0.8}, style{stroke: inkMid})},
		{"fast", "message, fast", legendSample, message(Message{Fate: Fast})},
		{"slow", "slow", legendSample, message(Message{Fate: Slow})},
		{"lost", "lost", legendSample, message(Message{Fate: Lost})},
		{"keepalive", "keepalive", legendSample, message(Message{Keepalive: true})},
		{"fault line", "fault of the network", legendMark, vertical(poleStyle(Fault))},
		{"fault mark", "fault of a node", legendMark, mark(Fault)},
		{"event line", "event of all", legendMark, vertical(poleStyle(Event))},
		{"event mark", "event", legendMark, mark(Event)},
		{"app line", "application, all", legendMark, vertical(poleStyle(App))},
		{"app mark", "application", legendMark, mark(App)},
	}
}

// swatches shows the colours of the first leaders side by side.
func (d *drawing) swatches(at point, half float64) {
	n := min(len(d.colours.leads), 3)
	width := float64(legendSample) / float64(n)
	for i := range n {
		x := at.x + float64(i)*width
		d.scene.box(layerLegend, "sample", rect{x, at.y - half, x + width, at.y + half}, 0, style{fill: leaders[i%len(leaders)]}, "")
	}
}

// footer writes the numbers of omitted elements.
func (d *drawing) footer() {
	if d.dropped > 0 {
		d.notes = append(d.notes, plural(d.dropped, "label")+" left out for lack of room")
	}
	if len(d.notes) == 0 {
		return
	}
	d.y += noteType.Size + 4
	text := strings.Join(d.notes, " · ")
	d.scene.write(layerLegend, "note", noteType.Fit(text, d.time.x1+plotRight-2*margin), margin, d.y, noteType, inkDark, text)
}

// maxDescribed is how many marks the description of a picture spells out.
const maxDescribed = 40

// describe returns the title and the description for screen readers.
func (d *drawing) describe() (title, description string) {
	title = clean(d.run.Title)
	if title == "" {
		title = "Space-time diagram"
	}
	parts := []string{fmt.Sprintf("Space-time diagram of %d nodes from %v to %v.", len(d.run.Nodes), d.time.from, d.time.to)}
	if s := clean(d.run.Subtitle); s != "" {
		parts = append(parts, s+".")
	}
	var told int
	for _, m := range d.marksOf(func(m *Mark) bool { return m.Kind == Violation || m.Kind == Fault }) {
		if told++; told > maxDescribed {
			parts = append(parts, "More faults are not listed.")
			break
		}
		parts = append(parts, d.markTip(m)+".")
	}
	return title, strings.Join(append(parts, d.notes...), " ")
}
