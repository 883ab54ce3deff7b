package diagram

import (
	"cmp"
	"image/color"
	"slices"
	"strings"

	"github.com/failaware/failaware/internal/svg"
)

// bars draws the bars of the nodes. Down periods come first, so that bars that still
// hold while a node is down stay visible.
func (d *drawing) bars() {
	var shown []*Bar
	for i := range d.run.Bars {
		if b := &d.run.Bars[i]; d.time.overlaps(b.From, b.To) {
			shown = append(shown, b)
		}
	}
	order := [...]int{Down: 0, Stalled: 1, Lead: 2, Lock: 3, View: 4, Stale: 4}
	slices.SortStableFunc(shown, func(a, b *Bar) int {
		return cmp.Or(cmp.Compare(order[a.Kind], order[b.Kind]), cmp.Compare(a.Node, b.Node),
			cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	end, row, node := 0.0, -1, -1
	for _, b := range shown {
		if order[b.Kind] != row || b.Node != node {
			end, row, node = -1, order[b.Kind], b.Node
		}
		if d.time.clamp(b.To) <= end+samePixels && end >= 0 {
			continue
		}
		end = max(d.time.clamp(b.To), d.time.clamp(b.From)+minVisible)
		d.bar(b)
	}
}

func (d *drawing) bar(b *Bar) {
	r := d.rowOf(b)
	r.x0 = min(d.time.clamp(b.From), d.time.x1-minVisible)
	r.x1 = max(d.time.clamp(b.To), r.x0+minVisible)
	colour, tip, class := d.colours.of(b), d.barTip(b), b.Kind.String()
	d.seen[class] = true
	edge := style{stroke: toward(colour, inkDark, 0.35), width: 0.75}
	switch b.Kind {
	case Lead:
		d.scene.box(layerBars, class, r, 2.5, style{fill: colour}, tip)
		d.barLabel(b, r, leadType)
	case Lock:
		d.scene.box(layerBars, class, r, 1.5, style{fill: colour}, tip)
	case View:
		edge.fill = colour
		d.scene.box(layerBars, class, r.inset(edge.width/2), 2.5, edge, tip)
		d.barLabel(b, r, viewType)
	case Stale:
		edge.fill, edge.dash = toward(colour, white, 0.72), []float64{2.5, 1.5}
		d.scene.box(layerBars, class, r.inset(edge.width/2), 2.5, edge, tip)
		d.hatching(layerBars, r, toward(colour, inkDark, 0.15))
		d.barLabel(b, r, viewType)
	case Down:
		d.scene.box(layerBars, class, r, 0, style{fill: downFill}, tip)
		y := (r.y0 + r.y1) / 2
		d.scene.line(layerBars, "downline", point{r.x0, y}, point{r.x1, y}, style{stroke: inkFaint, width: 0.9, dash: []float64{3, 3}}, "")
		d.barLabel(b, r, viewType)
	case Stalled:
		d.scene.box(layerStalls, class, r.inset(0.4), 2, style{fill: white, stroke: inkMid, width: 0.8}, tip)
		d.hatching(layerStalls, r, inkFaint)
	}
}

// rowOf is where in its lane a bar lies; the caller sets the horizontal extent.
func (d *drawing) rowOf(b *Bar) rect {
	l := &d.lanes[b.Node]
	switch b.Kind {
	case Lead:
		return l.lead
	case Lock:
		return l.lock
	case View, Stale:
		return l.view
	case Stalled:
		r := l.band
		r.y0, r.y1 = r.y0-stallReach, r.y1+stallReach
		return r
	}
	return l.band
}

func (d *drawing) hatching(l layer, r rect, ink color.NRGBA) {
	if p := hatch(r, hatchGap); p != nil {
		d.scene.add(l, element{class: "hatch", path: p, style: style{stroke: ink, width: 0.8}})
	}
}

// barText is the label of a bar, or its substitute.
func barText(b *Bar) string {
	label := clean(b.Label)
	if label == "" && (b.Kind == Down || b.Kind == Stalled) {
		return b.Kind.String()
	}
	return label
}

// barLabel writes as much of the label as fits: all of it, its first word, or nothing.
func (d *drawing) barLabel(b *Bar, r rect, t svg.Font) {
	const pad = 5
	text, fill := barText(b), d.colours.of(b)
	full := text
	if t.Width(text) > r.x1-r.x0-2*pad {
		if text, _, _ = strings.Cut(text, " "); t.Width(text) > r.x1-r.x0-2*pad {
			return
		}
	}
	if text == "" {
		return
	}
	ink := textOn(fill)
	baseline := (r.y0+r.y1)/2 + 0.36*t.Size
	places := [...]float64{0, 0.5, 1} // left, in the middle, right
	if b.Kind == Down {
		ink, places[0] = inkMid, 0.5
	}
	var room rect
	found := false
	for _, share := range places {
		if room = textBox(text, r.x0+pad+share*(r.x1-r.x0-2*pad-t.Width(text)), baseline, t); d.taken.free(room) {
			found = true
			break
		}
	}
	if !found {
		return
	}
	d.taken.take(room)
	if b.Kind == Stale || b.Kind == Down {
		back := toward(fill, white, 0.72)
		if b.Kind == Down {
			back = fill
		}
		halo := room.grown(2)
		halo.y0, halo.y1 = max(halo.y0, r.y0+1), min(halo.y1, r.y1-1)
		d.scene.box(layerBars, "halo", halo, 0, style{fill: back}, "")
	}
	d.scene.write(layerLabels, "barlabel", text, room.x0, baseline, t, ink, full)
}

func (d *drawing) barTip(b *Bar) string {
	tip := clean(d.run.Nodes[b.Node]) + ", " + b.From.String() + " to " + b.To.String() + ": " + b.Kind.String()
	if label := clean(b.Label); label != "" {
		tip += " " + label
	}
	return tip
}
