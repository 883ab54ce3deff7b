package campaign

import (
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/sim"
	"github.com/failaware/failaware/timed"
)

// choices turns the number of a seed into independent choices: its digits, the
// lowest first, each to a base of its own.
type choices uint64

func (c *choices) next(base uint64) int {
	x := uint64(*c) % base
	*c /= choices(base)
	return int(x)
}

// modes chooses mode and rank.
func (c *choices) modes(o *sim.Options) {
	o.Mode, o.RankBy = leader.Mode(c.next(2)), leader.RankBy(c.next(2))
}

// presets chooses a preset. A run takes as many leases with each.
func (c *choices) presets(o *sim.Options) {
	o.Timing = [...]timed.Timing{timed.LAN(), timed.Local(), timed.WAN()}[c.next(3)]
	o.Duration = 150 * o.Timing.Expires
}

// vary has all modes, ranks and presets with three kinds of roughness in 36 seeds.
func vary(seed uint64, o *sim.Options) {
	c := choices(seed - 1)
	c.presets(o)
	c.modes(o)
	o.Roughness, o.Nodes = [...]float64{1, moderate, rough}[c.next(3)], 2+int(seed/5%6)
}

func varyBroken(seed uint64, o *sim.Options) {
	c := choices(seed - 1)
	o.Mode, o.Nodes, o.Roughness = leader.Mode(c.next(2)), 3+c.next(4), 3
}

// varyGlobal has all modes, ranks and presets with four kinds of roughness in 48
// seeds.
func varyGlobal(seed uint64, o *sim.Options) {
	c := choices(seed - 1)
	c.presets(o)
	c.modes(o)
	o.Roughness, o.Nodes, o.Codec = float64(1+c.next(4)), 1+int(seed%7), seed%5 == 0
}

// varyEpochs has all modes and ranks with and without collated replies in 16 seeds.
func varyEpochs(seed uint64, o *sim.Options) {
	c := choices(seed - 1)
	c.modes(o)
	if c.next(4) == 0 {
		o.Collation = tree
	}
	o.Roughness, o.Nodes, o.Codec = float64(1+seed%3), 2+int(seed/4%6), seed%5 == 0
	if seed%7 == 0 {
		o.Timing, o.Duration = timed.WAN(), 150*timed.WAN().Expires
	}
}

// varyEven has groups of 2, 4, 6 and 8 nodes in all modes and ranks, with and without
// external references, in 32 seeds.
func varyEven(seed uint64, o *sim.Options) {
	c := choices(seed - 1)
	o.Nodes = 2 + 2*c.next(4)
	c.modes(o)
	if c.next(2) == 0 {
		o.Servers = nil
	}
}
