package sim

// link is one direction between two nodes.
type link struct {
	cut      bool
	min, max int64   // delay, uniform, in nanoseconds
	loss     float64 // probability that a packet is lost
	late     float64 // probability that a packet is late
	lateMax  int64   // by how much at most
	slow     int64   // added to every delay
}

// draw returns the delay of one packet, or false when it is lost.
func (l *link) draw(w *world) (int64, bool) {
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
