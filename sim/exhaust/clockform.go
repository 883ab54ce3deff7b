package exhaust

import (
	"reflect"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/timed"
)

// clockFields are those fields of a node's clock that can say the same in many
// ways, because any of its points gives a line. They are brought into one form,
// or a leader would be in another state whenever time has passed.
type clockFields struct {
	base, slewEnd, seen, lineBase *timed.Instant
	shown, middle, lineShown      *clocksync.Time
	slew, rest, rate, lineRate    *int64
	own                           *bool
	line                          *clocksync.Line
}

// bind finds the fields in a clock.
func (c *clockFields) bind(v reflect.Value) {
	c.base, c.slewEnd = (*timed.Instant)(at(v, "snap", "base")), (*timed.Instant)(at(v, "snap", "slewEnd"))
	c.seen, c.lineBase = (*timed.Instant)(at(v, "snap", "seen")), (*timed.Instant)(at(v, "line", "Base"))
	c.shown, c.middle = (*clocksync.Time)(at(v, "snap", "shown")), (*clocksync.Time)(at(v, "snap", "middle"))
	c.lineShown = (*clocksync.Time)(at(v, "line", "Shown"))
	c.slew, c.rest = (*int64)(at(v, "snap", "slew")), (*int64)(at(v, "snap", "rest"))
	c.rate, c.lineRate = (*int64)(at(v, "snap", "rate")), (*int64)(at(v, "line", "Rate"))
	c.own, c.line = (*bool)(at(v, "snap", "own")), (*clocksync.Line)(at(v, "line"))
}

// normalize brings the clock into the one form of its reading at now. Lines at
// the rate of the hardware clock are moved without any rounding; others stay as
// they are.
func (c *clockFields) normalize(now timed.Instant, show clocksync.Time) {
	if *c.rest == 0 && now >= *c.slewEnd {
		*c.base, *c.slewEnd, *c.shown, *c.slew = now, now, show, 0
	}
	if !*c.own {
		*c.line = clocksync.Line{} // read while the timeline is the own one only
		return
	}
	if *c.rate == 0 { // own readings have no width that would grow with age
		*c.middle += clocksync.Time(now - *c.seen)
		*c.seen = now
	}
	if *c.lineRate == 0 {
		*c.lineShown += clocksync.Time(now - *c.lineBase)
		*c.lineBase = now
	}
}
