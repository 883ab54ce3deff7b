package sim

import "github.com/failaware/failaware/internal/stack"

// link is one direction between two nodes.
type link struct {
	cut      bool
	min, max int64        // delay, uniform, in nanoseconds
	loss     float64      // probability that a packet is lost
	twice    float64      // probability that a packet comes twice
	replay   float64      // probability that it comes again, up to seconds later
	late     float64      // probability that a packet is late
	lateMax  int64        // by how much at most
	slow     int64        // added to every delay
	dropNext stack.Frames // a packet with one of these frames is lost, once
	dropAll  stack.Frames // every packet with one of these frames is lost
}

// draw returns the delay of one packet, or false when it is lost.
func (l *link) draw(w *world, frames stack.Frames) (int64, bool) {
	if l.dropAll&frames != 0 {
		w.count.Lost++
		return 0, false
	}
	if l.dropNext&frames != 0 {
		l.dropNext = 0
		w.count.Lost++
		return 0, false
	}
	if l.cut {
		w.count.Cut++
		return 0, false
	}
	if l.loss > 0 && w.net.chance(l.loss) {
		w.count.Lost++
		return 0, false
	}
	d := w.net.between(l.min, l.max) + l.slow
	if l.late > 0 && w.net.chance(l.late) {
		w.count.Late++
		d += w.net.between(0, l.lateMax)
	}
	return d, true
}
