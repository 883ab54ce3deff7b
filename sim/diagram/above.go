package diagram

import (
	"cmp"
	"image/color"
	"slices"

	"github.com/failaware/failaware/internal/svg"
)

// A pole is a vertical line through all lanes, from its text above them.
type pole struct {
	mark  *Mark
	x     float64
	top   float64 // the upper end; if unlabelled, that of the lanes
	bare  bool
	label string
}

// aboveLanes places violations and below them the marks of the whole group.
func (d *drawing) aboveLanes() {
	broken := d.marksOf(func(m *Mark) bool { return m.Kind == Violation })
	group := d.marksOf(func(m *Mark) bool { return m.Kind != Violation && m.Node == All })
	d.y += 6
	d.flags(broken)
	d.strip(group, broken)
	d.y += 2
}

// marksOf returns the marks that show, by importance, and then from right to
// left: in that order texts right of their poles hide the fewest poles.
func (d *drawing) marksOf(wanted func(*Mark) bool) (marks []*Mark) {
	for i := range d.run.Marks {
		if m := &d.run.Marks[i]; d.time.shows(m.At) && wanted(m) {
			marks = append(marks, m)
		}
	}
	rank := [...]int{Violation: 0, Fault: 1, Event: 2, App: 3}
	slices.SortStableFunc(marks, func(a, b *Mark) int {
		return cmp.Or(cmp.Compare(rank[a.Kind], rank[b.Kind]), cmp.Compare(b.At, a.At))
	})
	return marks
}

func (d *drawing) towerOf(gap float64) tower {
	return tower{left: margin, right: d.time.x1 + plotRight - 8, gap: gap, air: 8}
}

// widest is the longest text that always has room on one side of its pole.
func (d *drawing) widest() float64 { return (d.time.x1-d.time.x0)/2 - 2*flagPad }

func violationText(m *Mark) string {
	if label := clean(m.Label); label != "" {
		return label
	}
	return "violation"
}

// flags draws the texts of violations, white on red.
func (d *drawing) flags(marks []*Mark) {
	if len(marks) == 0 {
		return
	}
	type flag struct {
		lines []string
		width float64
		spot  spot
	}
	t := d.towerOf(0)
	flags := make([]flag, len(marks))
	most := 1
	for i, m := range marks {
		f := flag{lines: flagType.Wrap(violationText(m), min(maxFlag, d.widest()), maxFlagLines)}
		for _, l := range f.lines {
			f.width = max(f.width, flagType.Width(l))
		}
		most = max(most, len(f.lines))
		f.spot = t.place(towerItem{d.time.x(m.At), f.width + 2*flagPad})
		flags[i] = f
	}
	height := float64(most*flagLine + flagPad)
	bottom := d.y + float64(t.height)*(height+3)
	for i, m := range marks {
		f, p := flags[i], pole{mark: m, x: d.time.x(m.At), label: violationText(m), bare: flags[i].spot.row < 0}
		if p.bare {
			d.dropped++
			d.poles = append(d.poles, p)
			continue
		}
		p.top = bottom - float64(f.spot.row+1)*(height+3)
		box := rect{f.spot.x0, p.top, f.spot.x1, p.top + float64(len(f.lines)*flagLine+flagPad)}
		d.scene.box(layerViolations, "flag", box, 2, style{fill: violation}, p.label)
		for j, l := range f.lines {
			baseline := box.y0 + flagPad/2 + float64(j)*flagLine + flagType.Ascent() + 2.5
			d.scene.write(layerViolations, "flagtext", l, box.x0+flagPad, baseline, flagType, white, "")
		}
		d.poles = append(d.poles, p)
	}
	d.y = bottom
}

// strip draws the texts of marks for the whole group.
func (d *drawing) strip(marks, broken []*Mark) {
	t := d.towerOf(poleGap)
	for _, m := range broken {
		t.through = append(t.through, d.time.x(m.At))
	}
	poles, spots := make([]pole, len(marks)), make([]spot, len(marks))
	for i, m := range marks {
		typing, _ := markText(m.Kind)
		p := pole{mark: m, x: d.time.x(m.At), label: clean(m.Label)}
		spots[i].row = -1
		if text := typing.Fit(p.label, d.widest()); text != "" {
			if spots[i] = t.place(towerItem{p.x, typing.Width(text)}); spots[i].row < 0 {
				d.dropped++
			}
		}
		poles[i] = p
	}
	bottom := d.y + float64(t.height)*labelRow
	for i, p := range poles {
		typing, ink := markText(p.mark.Kind)
		if p.bare = spots[i].row < 0; !p.bare {
			p.top = bottom - float64(spots[i].row+1)*labelRow
			d.label(typing.Fit(p.label, d.widest()), spots[i].x0, p.top+labelRow-3, typing, ink, p.label)
		}
		d.poles = append(d.poles, p)
	}
	d.y = bottom
}

// markText is how the label of a mark is set.
func markText(k MarkKind) (svg.Font, color.NRGBA) {
	switch k {
	case Fault:
		return faultType, inkDark
	case Violation:
		return faultType, violation
	case App:
		return eventType, appInk
	}
	return eventType, inkMid
}

// drawPoles draws the lines of marks through the lanes, now that these have
// their place. Lines that share their pixels with one of the same look and no
// text of their own are drawn once.
func (d *drawing) drawPoles() {
	bottom := d.lanes[len(d.lanes)-1].band.y1 + 14
	type look struct {
		kind MarkKind
		at   int
	}
	drawn := map[look]bool{}
	for _, p := range d.poles {
		key := look{p.mark.Kind, int(p.x / samePixels)}
		if p.bare && drawn[key] {
			continue
		}
		drawn[key] = true
		if p.bare {
			p.top = d.lanes[0].band.y0 - 8
		}
		d.seen[p.mark.Kind.String()+" line"] = true
		tip := d.markTip(p.mark)
		a, b := point{p.x, p.top}, point{p.x, bottom}
		if p.mark.Kind != Violation {
			d.scene.line(layerLines, p.mark.Kind.String(), a, b, poleStyle(p.mark.Kind), tip)
			continue
		}
		d.scene.line(layerMarks, "halo", a, b, style{stroke: faded(white, 0.8), width: 6}, "")
		d.taken.take(rect{p.x - 3, d.lanes[0].band.y0 - d.roomAbove(), p.x + 3, bottom})
		d.scene.line(layerViolations, "violation", a, b, style{stroke: violation, width: 2.5}, tip)
		if p.mark.Node != All {
			band := d.lanes[p.mark.Node].band
			d.spotlight(point{p.x, (band.y0 + band.y1) / 2}, tip)
		}
	}
}

// spotlight marks the lane in which a promise was broken.
func (d *drawing) spotlight(at point, tip string) {
	const radius = 7
	var disc, x path
	disc.rounded(rect{at.x - radius, at.y - radius, at.x + radius, at.y + radius}, radius)
	x.cross(at, 2.6)
	d.scene.add(layerViolations, element{class: "culprit", tip: tip, path: disc,
		style: style{fill: violation, stroke: white, width: 1.5}})
	d.scene.add(layerViolations, element{class: "cross", path: x, style: style{stroke: white, width: 1.8}})
}

func poleStyle(k MarkKind) style {
	switch k {
	case Fault:
		return style{stroke: inkDark, width: 1.1, dash: []float64{2, 2.5}}
	case App:
		return style{stroke: faded(appInk, 0.7), width: 0.9}
	}
	return style{stroke: inkFaint, width: 0.9}
}

func (d *drawing) markTip(m *Mark) string {
	where := "all"
	if m.Node != All {
		where = clean(d.run.Nodes[m.Node])
	}
	tip := m.At.String() + ", " + where + ", " + m.Kind.String()
	if label := clean(m.Label); label != "" {
		tip += ": " + label
	}
	return tip
}
