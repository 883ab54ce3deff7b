package diagram

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"
)

// messages draws the messages that show, all or a sample of them.
func (d *drawing) messages() {
	flight := d.typicalFlight()
	var shown []*Message
	hidden := 0
	for i := range d.run.Messages {
		m := &d.run.Messages[i]
		if sent, arrived := d.xs(m, flight); arrived < d.time.x0 || sent > d.time.x1 {
			continue
		}
		if m.Keepalive && d.options.HideKeepalives {
			hidden++
			continue
		}
		shown = append(shown, m)
	}
	slices.SortStableFunc(shown, func(a, b *Message) int { return cmp.Compare(a.Sent, b.Sent) })
	drawn := thin(shown, cmp.Or(d.options.MaxMessages, MaxMessages))
	if len(drawn) < len(shown) {
		d.notes = append(d.notes, fmt.Sprintf("%s of %s messages drawn", count(len(drawn)), count(len(shown))))
	}
	if hidden > 0 {
		d.notes = append(d.notes, plural(hidden, "keepalive")+" hidden")
	}
	opacity := min(max(math.Sqrt(300/float64(len(drawn)+1)), 0.3), 0.95)
	for _, m := range drawn {
		d.message(m, flight, opacity)
	}
	if len(drawn) <= MaxLabelledMessages {
		d.messageLabels(drawn, flight)
	}
}

// typicalFlight is the median extent in time of the messages that arrived, in
// units. It stands in for lost messages without a time of arrival.
func (d *drawing) typicalFlight() float64 {
	var flights []float64
	for i := range d.run.Messages {
		if m := &d.run.Messages[i]; m.Fate != Lost {
			flights = append(flights, d.time.x(m.Arrived)-d.time.x(m.Sent))
		}
	}
	if len(flights) == 0 {
		return (d.time.x1 - d.time.x0) / 60
	}
	return typical(flights, 0.5)
}

// thin returns at most limit messages, in order: all that are no keepalives
// and evenly chosen keepalives if that suffices, else evenly chosen others.
func thin(all []*Message, limit int) []*Message {
	if len(all) <= limit {
		return all
	}
	keepalives := 0
	for _, m := range all {
		if m.Keepalive {
			keepalives++
		}
	}
	others := len(all) - keepalives
	keepOthers := min(others, limit)
	chosen := make([]*Message, 0, limit)
	var seen struct{ keepalives, others int }
	for _, m := range all {
		if m.Keepalive {
			if chosenOf(seen.keepalives, keepalives, limit-keepOthers) {
				chosen = append(chosen, m)
			}
			seen.keepalives++
		} else {
			if chosenOf(seen.others, others, keepOthers) {
				chosen = append(chosen, m)
			}
			seen.others++
		}
	}
	return chosen
}

// chosenOf reports whether item i of n is among k evenly chosen ones.
func chosenOf(i, n, k int) bool { return (i+1)*k/n > i*k/n }

// xs are where a message is sent and where it arrives, or would have arrived.
func (d *drawing) xs(m *Message, flight float64) (sent, arrived float64) {
	sent, arrived = d.time.x(m.Sent), d.time.x(m.Arrived)
	if m.Fate == Lost && m.Arrived <= m.Sent {
		arrived = sent + flight
	}
	return sent, arrived
}

// ends are the two ends of a message on the facing edges of the two lanes.
func (d *drawing) ends(m *Message, flight float64) (a, b point) {
	a.x, b.x = d.xs(m, flight)
	a.y, b.y = d.between(m.From, m.To)
	return a, b
}

// lostPart is the share of its way that a lost message goes. Its end is in
// the middle of the way, but between two lanes, where nothing hides the cross.
func (d *drawing) lostPart(m *Message) float64 {
	step := 1
	if m.To < m.From {
		step = -1
	}
	gaps := (m.To - m.From) * step
	before := m.From + (gaps-1)/2*step
	a, b := d.between(before, before+step)
	start, _ := d.between(m.From, m.From+step)
	_, goal := d.between(m.To-step, m.To)
	return (a + lostShare*(b-a) - start) / (goal - start)
}

// between returns the facing edges of two lanes.
func (d *drawing) between(from, to int) (a, b float64) {
	if to < from {
		return d.lanes[from].band.y0, d.lanes[to].band.y1
	}
	return d.lanes[from].band.y1, d.lanes[to].band.y0
}

func alongWay(a, b point, share float64) point {
	return point{a.x + share*(b.x-a.x), a.y + share*(b.y-a.y)}
}

// clip returns the shares of the way from a to b at which it enters and leaves
// the picture.
func (d *drawing) clip(a, b point) (from, to float64) {
	from, to = 0, 1
	if a.x < d.time.x0 {
		from = (d.time.x0 - a.x) / (b.x - a.x)
	}
	if b.x > d.time.x1 {
		to = (d.time.x1 - a.x) / (b.x - a.x)
	}
	return from, to
}

func (d *drawing) message(m *Message, flight, opacity float64) {
	a, b := d.ends(m, flight)
	if m.Fate == Lost {
		b = alongWay(a, b, d.lostPart(m))
	}
	from, to := d.clip(a, b)
	if from >= to {
		return
	}
	start, end := alongWay(a, b, from), alongWay(a, b, to)
	// The far end can be so far away that the share is not precise enough.
	start.x, end.x = min(max(start.x, d.time.x0), d.time.x1), min(max(end.x, d.time.x0), d.time.x1)
	st := messageStyle(m, opacity)
	class := "message " + m.Fate.String()
	key := m.Fate.String()
	if m.Keepalive {
		class += " keepalive"
		key = "keepalive"
	}
	d.seen[key] = true
	tip := d.messageTip(m)
	if to < 1 {
		d.scene.line(layerMessages, class, start, end, st, tip)
		return
	}
	d.arrow(layerMessages, class, start, end, st, m.Fate, tip)
}

// arrow draws a line that ends in a head or, if lost, in a cross.
func (d *drawing) arrow(l layer, class string, a, b point, st style, fate Fate, tip string) {
	var p path
	p.move(a)
	if fate == Lost {
		p.line(b)
		d.scene.add(l, element{class: class, path: p, style: st, tip: tip})
		var x path
		x.cross(b, lostCross)
		d.scene.add(l, element{class: "lostcross", path: x, style: style{stroke: faded(lostCrossInk, crossOpacity(st)), width: 1.2}})
		return
	}
	length := math.Hypot(b.x-a.x, b.y-a.y)
	ux, uy := (b.x-a.x)/length, (b.y-a.y)/length
	neck := point{b.x - ux*headLength, b.y - uy*headLength}
	p.line(neck)
	var head path
	head.polygon(b, point{neck.x - uy*headHalf, neck.y + ux*headHalf}, point{neck.x + uy*headHalf, neck.y - ux*headHalf})
	d.scene.add(l, element{class: class, path: p, style: st, tip: tip})
	d.scene.add(l, element{class: "head", path: head, style: style{fill: st.stroke}})
}

// crossOpacity keeps the crosses of many messages from covering all else, but
// visible.
func crossOpacity(line style) float64 { return max(float64(line.stroke.A)/255, 0.4) }

func messageStyle(m *Message, opacity float64) style {
	var st style
	switch m.Fate {
	case Slow:
		st = style{stroke: slowInk, width: 1.2, dash: []float64{5, 2.5}}
	case Lost:
		st = style{stroke: lostInk, width: 0.9}
	default:
		st = style{stroke: fastInk, width: 0.9}
	}
	if m.Keepalive {
		opacity *= 0.55
		st.width *= 0.8
	}
	st.stroke = faded(st.stroke, opacity)
	return st
}

// messageLabels writes labels beside their messages, where they have room
// between the lanes, and there where the fewest messages pass behind.
func (d *drawing) messageLabels(drawn []*Message, flight float64) {
	ways := make([][2]point, len(drawn))
	for i, m := range drawn {
		a, b := d.ends(m, flight)
		if m.Fate == Lost {
			b = alongWay(a, b, d.lostPart(m))
		}
		ways[i] = [2]point{a, b}
	}
	for i, m := range drawn {
		text := messageType.Fit(clean(m.Label), d.widest())
		if text == "" {
			continue
		}
		at, ok := d.quietest(text, ways[i], ways)
		if !ok {
			d.dropped++
			continue
		}
		d.label(text, at.x, at.y, messageType, messageInk(m), d.messageTip(m))
	}
}

// quietest returns where to write beside a way, if there is room.
func (d *drawing) quietest(text string, way [2]point, ways [][2]point) (best point, ok bool) {
	const side = 5
	width := messageType.Width(text)
	least := len(ways) + 1
	for _, share := range [...]float64{0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8} {
		at := alongWay(way[0], way[1], share)
		baseline := at.y + 0.36*messageType.Size
		for _, x := range [...]float64{at.x + side, at.x - side - width} {
			room := textBox(text, x, baseline, messageType).grown(1.5)
			if room.x0 < d.time.x0 || room.x1 > d.time.x1 || d.crossesLane(room) || !d.taken.free(room) {
				continue
			}
			crossed := 0
			for _, w := range ways {
				if crosses(w, room) {
					crossed++
				}
			}
			if crossed < least {
				best, least, ok = point{x, baseline}, crossed, true
			}
		}
	}
	return best, ok
}

// crosses reports whether a straight way goes through a box.
func crosses(way [2]point, r rect) bool {
	a, b := way[0], way[1]
	from, to := 0.0, 1.0
	for _, axis := range [...]struct{ a, b, low, high float64 }{{a.x, b.x, r.x0, r.x1}, {a.y, b.y, r.y0, r.y1}} {
		if axis.a == axis.b {
			if axis.a < axis.low || axis.a > axis.high {
				return false
			}
			continue
		}
		enter, leave := (axis.low-axis.a)/(axis.b-axis.a), (axis.high-axis.a)/(axis.b-axis.a)
		from, to = max(from, min(enter, leave)), min(to, max(enter, leave))
	}
	return from < to
}

func messageInk(m *Message) color.NRGBA {
	if m.Fate == Slow {
		return slowInk
	}
	return inkMid
}

func (d *drawing) messageTip(m *Message) string {
	tip := clean(d.run.Nodes[m.From]) + " → " + clean(d.run.Nodes[m.To]) + ", sent " + m.Sent.String()
	if m.Fate != Lost {
		tip += ", arrived " + m.Arrived.String()
	}
	tip += ", " + m.Fate.String()
	if m.Keepalive {
		tip += ", keepalive"
	}
	if label := clean(m.Label); label != "" {
		tip += ": " + label
	}
	return tip
}
