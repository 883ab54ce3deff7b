package sim

import (
	"errors"
	"math"

	"github.com/failaware/failaware/sim/internal/hardware"
)

// warmSteps is in how many steps a clock's rate goes to its extreme and back: the
// line is bent so often.
const warmSteps = 64

// validateKind reports what only faults of a kind must have.
func (f *Fault) validateKind() error {
	switch {
	case f.Kind == Warm && f.For < warmSteps:
		return errors.New("sim: warm: its time (For) is missing")
	case f.Kind == Tail:
		return validTail(f.Rate)
	}
	return nil
}

// warms schedules the next step of a change of temperature, the first of which is
// step 1.
func (w *World) warms(i int32, step int64) {
	if step <= warmSteps {
		f := &w.faults[i]
		w.schedule(origin+int64(f.At)+int64(f.For)/warmSteps*step, warms, int(f.Node)-1, i)
	}
}

// warmed performs a step: the rate changes by its part of what the temperature does,
// whatever else bends the clock, and never leaves ρ.
func (w *World) warmed(e event) {
	f, n := &w.faults[e.arg], w.nodes[e.node()]
	step := (w.now - origin - int64(f.At)) / (int64(f.For) / warmSteps)
	w.warms(e.arg, step+1)
	if n.clockBroken {
		return
	}
	rho := w.opt.Timing.MaxDrift
	rate := n.clock.Rate() + warmth(f.Rate, step) - warmth(f.Rate, step-1)
	w.bend(n, hardware.Within(rate, rho))
}

// warmth is the change of the rate after so many steps: straight up, and down again.
func warmth(most float64, step int64) int64 {
	return int64(math.Round(most * (1 - math.Abs(2*float64(step)/warmSteps-1))))
}
