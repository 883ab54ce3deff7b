package diagram

import (
	"math"
	"time"

	"github.com/failaware/failaware/internal/svg"
)

// Distances, in units of 1/96 inch.
const (
	margin    = 24
	plotRight = 36 // right of the time axis, with room for half of a tick's label
	maxName   = 150
	nameGap   = 16

	// The default bounds of the plot's width.
	minPlot, maxPlot = 900, 2400
	// The room that the default width gives to a bar and to a message.
	wantedBar, wantedMessage = 40, 7

	bandPad, rowGap         = 4, 3
	leadRow, lockRow        = 17, 5
	viewRow                 = 15
	bareBand                = 12 // a lane without bars
	lanesHeight             = 640
	minLaneGap, maxLaneGap  = 44, 84
	labelRow                = 14 // from one row of labels to the next
	stallReach              = 4  // how far a stall's frame reaches over the lane
	minVisible              = 1  // the narrowest bar drawn
	samePixels              = 0.25
	haloOpacity             = 0.86
	flagPad, flagLine       = 7, 15
	maxFlagLines, maxFlag   = 6, 440
	maxTowerRows            = 5
	poleGap                 = 4 // between a pole and its text
	tickSmall, tickLarge    = 3, 6
	headLength, headHalf    = 7, 2.6
	lostCross               = 3.2
	lostShare               = 0.55 // of the room between two lanes, after which a lost message ends
	hatchGap                = 5
	legendRow, legendSample = 20, 30
	legendMark              = 10
)

// A lane is where one node's bars are; the rows lie within the band. A row
// that no bar of the run needs takes no room.
type lane struct {
	band             rect
	lead, lock, view rect
}

// horizontal chooses the horizontal extent of names and time.
func (d *drawing) horizontal() {
	names := 0.0
	for i, n := range d.run.Nodes {
		names = max(names, nameType.Width(clean(n)))
		if len(d.run.IDs) > 0 {
			names = max(names, idType.Width(clean(d.run.IDs[i])))
		}
	}
	d.time.x0 = margin + math.Ceil(min(names, maxName)) + nameGap
	if d.options.Width > 0 {
		d.time.x1 = float64(d.options.Width) - plotRight
		return
	}
	d.time.x1 = d.time.x0 + d.wantedPlot()
}

// wantedPlot is so wide that three of four bars are long enough for a label,
// and that messages between two lanes stand apart, within bounds.
func (d *drawing) wantedPlot() float64 {
	var lengths []float64
	for i := range d.run.Bars {
		if b := &d.run.Bars[i]; b.To > b.From && d.time.overlaps(b.From, b.To) {
			lengths = append(lengths, float64(b.To)-float64(b.From))
		}
	}
	wanted := 0.0
	if short := typical(lengths, 0.25); short > 0 {
		wanted = wantedBar * (float64(d.time.to) - float64(d.time.from)) / short
	}
	shown := 0
	for i := range d.run.Messages {
		if m := &d.run.Messages[i]; d.time.shows(m.Sent) && !(m.Keepalive && d.options.HideKeepalives) {
			shown++
		}
	}
	if gaps := len(d.run.Nodes) - 1; gaps > 0 {
		wanted = max(wanted, wantedMessage*float64(shown)/float64(gaps))
	}
	return math.Ceil(min(max(wanted, minPlot), maxPlot))
}

func (d *drawing) header() {
	d.y = margin
	room := d.time.x1 + plotRight - 2*margin
	for _, h := range []struct {
		text   string
		typing svg.Font
		class  string
	}{{d.run.Title, titleType, "title"}, {d.run.Subtitle, subtitleType, "subtitle"}} {
		text := clean(h.text)
		if text == "" {
			continue
		}
		ink := inkDark
		if h.class == "subtitle" {
			ink = inkMid
		}
		d.y += h.typing.Ascent()
		d.scene.write(layerHeader, h.class, h.typing.Fit(text, room), margin, d.y, h.typing, ink, text)
		d.y += h.typing.Descent() + 6
	}
}

// layLanes draws the empty lanes with their names.
func (d *drawing) layLanes() {
	var lead, lock, view float64
	for i := range d.run.Bars {
		switch d.run.Bars[i].Kind {
		case Lead:
			lead = leadRow
		case Lock:
			lock = lockRow
		case View, Stale:
			view = viewRow
		}
	}
	band, rows := 2.0*bandPad, 0.0
	for _, h := range []float64{lead, lock, view} {
		if h > 0 {
			band += h
			rows++
		}
	}
	if band += max(rows-1, 0) * rowGap; rows == 0 {
		band = bareBand
	}
	n := float64(len(d.run.Nodes))
	gap := math.Floor(min(max(lanesHeight/n-band, minLaneGap), maxLaneGap))
	d.y += d.roomAbove()
	for i := range d.run.Nodes {
		if i > 0 {
			d.y += gap
		}
		l := lane{band: rect{d.time.x0, d.y, d.time.x1, d.y + band}}
		y := d.y + bandPad
		for _, row := range []struct {
			height float64
			r      *rect
		}{{lead, &l.lead}, {lock, &l.lock}, {view, &l.view}} {
			if row.height > 0 {
				*row.r = rect{d.time.x0, y, d.time.x1, y + row.height}
				y += row.height + rowGap
			}
		}
		d.lanes = append(d.lanes, l)
		d.drawLane(i, &l)
		d.y += band
	}
}

// roomAbove is the room that the first lane needs for labels of its marks.
func (d *drawing) roomAbove() float64 {
	for i := range d.run.Marks {
		if m := &d.run.Marks[i]; m.Node == 0 && d.time.shows(m.At) {
			return 2*labelRow + 8
		}
	}
	return 12
}

func (d *drawing) drawLane(i int, l *lane) {
	name := clean(d.run.Nodes[i])
	d.scene.box(layerLanes, "lane", l.band, 3, style{fill: bandFill, stroke: bandEdge, width: 0.75}, name)
	baseline := (l.band.y0+l.band.y1)/2 + nameType.Size*0.36
	if len(d.run.IDs) > 0 {
		baseline -= idType.Size * 0.6
		id := clean(d.run.IDs[i])
		d.scene.write(layerLanes, "id", idType.Fit(id, maxName), margin, baseline+idType.Size+3, idType, inkMid, id)
	}
	d.scene.write(layerLanes, "name", nameType.Fit(name, maxName), margin, baseline, nameType, inkDark, name)
}

// axis draws the time axis below the lanes, and its grid through them.
func (d *drawing) axis() {
	top := d.lanes[0].band.y0 - 4
	d.y += 14
	y := d.y
	step, parts := d.time.step()
	d.scene.line(layerAxis, "axis", point{d.time.x0, y}, point{d.time.x1, y}, style{stroke: inkMid, width: 1}, "")
	if small := step / time.Duration(parts); small*time.Duration(parts) == step {
		for t := range d.time.ticks(small) {
			x := d.time.x(t)
			d.scene.line(layerAxis, "minor", point{x, y}, point{x, y + tickSmall}, style{stroke: inkFaint, width: 0.75}, "")
		}
	}
	end := 0.0
	for t := range d.time.ticks(step) {
		x := d.time.x(t)
		d.scene.line(layerGrid, "gridline", point{x, top}, point{x, y}, style{stroke: gridLine, width: 0.75}, "")
		d.scene.line(layerAxis, "tick", point{x, y}, point{x, y + tickLarge}, style{stroke: inkMid, width: 1}, "")
		label := d.time.tickLabel(t, step)
		width := tickType.Width(label)
		if x-width/2 < end || x+width/2 > d.time.x1+plotRight {
			continue
		}
		d.scene.write(layerAxis, "time", label, x-width/2, y+tickLarge+4+tickType.Ascent(), tickType, inkMid, "")
		end = x + width/2 + 6
	}
	d.y = y + tickLarge + 4 + tickType.Size + 8
}
