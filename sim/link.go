package sim

import (
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/sim/internal/hardware"
)

// link is one direction between two nodes.
type link struct {
	cut      bool
	min, max int64   // delay, uniform, in nanoseconds
	slow     int64   // added to every delay
	loss     float64 // probability that a packet is lost
	late     float64 // probability that it is late
	lateMax  int64   // by how much at most
	twice    float64 // probability that it comes twice
	replay   float64 // probability that it comes again
	again    int64   // up to so much later
	odd      bool    // rare is not zero
	rare     rare

	dropNext wire.Frames // a packet with one of these frames is lost, once
	dropAll  wire.Frames // every packet with one of these frames is lost
}

// rare has the properties that few links have.
type rare struct {
	reorder   float64
	tail      float64 // mean of a random addition to every delay; 0: none
	index     float64 // of the tail
	burst     float64 // mean length of a burst of losses, above 1
	bursting  bool
	clogUntil int64
	flap      int64 // period; 0: none
	since     int64 // when the first cut of it began
	mtu       int   // 0: no limit
	corrupt   float64
	damage    float64
	truncate  float64
	forge     float64
	foreign   float64
}

// draw returns the delay of one packet, or false when it is lost.
func (l *link) draw(w *World, f *flight) (int64, bool) {
	p := &f.packet
	if (l.dropAll|l.dropNext)&p.Frames != 0 {
		l.dropNext &^= p.Frames
		w.count.Lost++
		return 0, false
	}
	if l.cut {
		w.count.Cut++
		return 0, false
	}
	if l.odd {
		r := &l.rare
		if w.now < r.clogUntil {
			w.count.Late++
			return r.clogUntil - w.now + l.min + w.net.Below(int64(w.opt.Timing.OneWayTimeout)/100+1), r.clogUntil != hardware.Forever
		}
		if r.flap > 0 && (w.now-r.since)/(r.flap/2)%2 == 0 {
			w.count.Cut++
			return 0, false
		}
		if r.drop(w, l.loss) || r.mtu > 0 && w.size(p)+len(f.payload) > r.mtu {
			w.count.Lost++
			return 0, false
		}
	} else if l.loss > 0 && w.net.Chance(l.loss) {
		w.count.Lost++
		return 0, false
	}
	d := w.net.Between(l.min, l.max) + l.slow
	if l.late > 0 && w.net.Chance(l.late) {
		w.count.Late++
		d += w.net.Between(0, l.lateMax)
	}
	if l.odd && l.rare.tail > 0 {
		d += w.net.Tail(l.rare.tail, l.rare.index)
	}
	if l.odd && w.net.Chance(l.rare.reorder) {
		w.count.Reordered++
		d += w.net.Between(0, int64(w.opt.Timing.OneWayTimeout))
	}
	return d, true
}

// drop draws whether a packet is lost. Bursts follow Gilbert's channel: their rate of losses
// is the same as that of single losses.
func (r *rare) drop(w *World, rate float64) bool {
	switch {
	case r.burst <= 1:
		return w.net.Chance(rate)
	case r.bursting:
		r.bursting = !w.net.Chance(1 / r.burst)
	default:
		r.bursting = w.net.Chance(rate / (r.burst * (1 - min(rate, 0.9))))
	}
	return r.bursting
}

// repeatDelay draws how long after a packet its duplicate arrives, or returns 0 for no
// duplicate.
func (l *link) repeatDelay(w *World) int64 {
	if l.twice > 0 && w.net.Chance(l.twice) {
		return 1 + w.net.Between(l.min, l.max)
	}
	if l.replay > 0 && w.net.Chance(l.replay) {
		return 1 + w.net.Between(0, l.again)
	}
	return 0
}
