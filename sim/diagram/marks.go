package diagram

import (
	"image/color"
	"slices"

	"github.com/failaware/failaware/internal/svg"
)

// A note is a text above a lane, at a point of its upper edge.
type note struct {
	x, top float64
	text   string
	tip    string
	typing svg.Font
	ink    color.NRGBA
}

// laneMarks draws the marks of single nodes and then their labels, for which
// it first knows all places that they must keep free.
func (d *drawing) laneMarks() {
	marks := d.marksOf(func(m *Mark) bool { return m.Node != All && m.Kind != Violation })
	slices.Reverse(marks) // the important ones on top of the others
	type place struct {
		kind MarkKind
		node int
		at   int
	}
	drawn := map[place]bool{}
	notes := d.stallNotes()
	for _, m := range marks {
		x, top := d.time.x(m.At), d.lanes[m.Node].band.y0
		d.seen[m.Kind.String()+" mark"] = true
		if key := (place{m.Kind, m.Node, int(x / samePixels)}); !drawn[key] {
			drawn[key] = true
			d.symbol(layerMarks, m.Kind, point{x, top}, d.markTip(m))
			d.taken.take(rect{x - 4, top - 7, x + 4, top + 3})
		}
		if label := clean(m.Label); label != "" {
			typing, ink := markText(m.Kind)
			notes = append(notes, note{x, top, typing.Fit(label, d.widest()), d.markTip(m), typing, ink})
		}
	}
	slices.Reverse(notes)
	for _, n := range notes {
		if !d.note(n) {
			d.dropped++
		}
	}
}

// stallNotes are the labels of stalls: their frames are behind bars, which
// have their own labels.
func (d *drawing) stallNotes() (notes []note) {
	for i := range d.run.Bars {
		b := &d.run.Bars[i]
		if b.Kind == Stalled && d.time.overlaps(b.From, b.To) {
			notes = append(notes, note{d.time.clamp(b.From) - 4, d.lanes[b.Node].band.y0 - stallReach, barText(b),
				d.barTip(b), viewType, inkMid})
		}
	}
	return notes
}

// symbol draws the sign of a mark on the upper edge of a lane.
func (d *drawing) symbol(l layer, k MarkKind, at point, tip string) {
	var p path
	st := style{fill: inkDark, stroke: white, width: 0.8}
	switch k {
	case Fault:
		p.polygon(point{at.x - 4, at.y - 6.5}, point{at.x + 4, at.y - 6.5}, point{at.x, at.y + 1})
	case App:
		const radius = 3
		p.rounded(rect{at.x - radius, at.y - radius, at.x + radius, at.y + radius}, radius)
		st.fill = appInk
	default:
		p.move(point{at.x, at.y - 5})
		p.line(point{at.x, at.y + 3})
		st = style{stroke: inkDark, width: 1.3}
	}
	d.scene.add(l, element{class: k.String(), tip: tip, path: p, style: st})
}

// note writes a text above a lane if there is room, in the lowest row possible,
// and joins higher rows to the mark by a stem.
func (d *drawing) note(n note) bool {
	const side = 6
	width := n.typing.Width(n.text)
	for row := 0; ; row++ {
		baseline := n.top - 5 - float64(row)*labelRow
		for _, x := range [...]float64{n.x + side, n.x - side - width} {
			room := textBox(n.text, x, baseline, n.typing).grown(1.5)
			if d.crossesLane(room) {
				return false
			}
			if room.x0 < d.time.x0 || room.x1 > d.time.x1+plotRight || !d.taken.free(room) {
				continue
			}
			stem := rect{n.x - 0.5, baseline - 4, n.x + 0.5, n.top - 7.5}
			if row > 0 && !d.taken.free(stem) {
				return false
			}
			if row > 0 {
				d.taken.take(stem)
				var p path
				p.move(point{n.x, n.top - 6})
				p.line(point{n.x, baseline - 4})
				p.line(point{x + max(0, min(width, n.x-x)), baseline - 4})
				d.scene.add(layerMarks, element{class: "stem", path: p, style: style{stroke: n.ink, width: 0.6}})
			}
			d.label(n.text, x, baseline, n.typing, n.ink, n.tip)
			return true
		}
	}
}

// label writes a text that others keep clear of, on a ground that lifts it
// from the messages behind it.
func (d *drawing) label(text string, x, baseline float64, t svg.Font, ink color.NRGBA, tip string) {
	room := textBox(text, x, baseline, t).grown(1.5)
	d.taken.take(room)
	d.scene.box(layerMarks, "halo", room, 2, style{fill: faded(white, haloOpacity)}, "")
	d.scene.write(layerLabels, "label", text, x, baseline, t, ink, tip)
}

// crossesLane reports whether a text between the lanes would leave that room.
func (d *drawing) crossesLane(r rect) bool {
	if r.y0 < d.lanes[0].band.y0-d.roomAbove() {
		return true
	}
	for i := range d.lanes {
		if d.lanes[i].band.meets(r) {
			return true
		}
	}
	return false
}
