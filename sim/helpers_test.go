package sim

import (
	"github.com/failaware/failaware/sim/fault"
	"github.com/failaware/failaware/timed"
)

// split separates blocks by hand, by cuts or by slowness above Δ.
func (w *World) split(blocks []timed.Set, slow bool) {
	extra := int64(0)
	if slow {
		extra = 3 * int64(w.opt.Timing.FastThreshold)
	}
	w.divide(blocks, extra)
}

func (w *World) anyNode() *Node { return w.nodes[w.chaos.Below(int64(w.opt.Nodes))] }

// draw draws the schedule of a seed.
func draw(seed uint64, opt Options) fault.Schedule {
	opt = opt.withDefaults()
	return opt.draw(seed)
}
