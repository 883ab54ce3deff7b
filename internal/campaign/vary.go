package campaign

import (
	"time"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/random"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/sim"
	"github.com/failaware/failaware/sim/fault"
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

// everything chooses the mode, the rank, what else a world has (nothing, quorums, epochs, a
// broadcast, or collated replies), and how many nodes and faults.
func (c *choices) everything(seed uint64, o *sim.Options) {
	c.modes(o)
	o.Nodes, o.Codec, o.Roughness = 2+int(seed/5%6), seed%5 == 0, [...]float64{0.3, 1, moderate}[seed%3]
	switch c.next(6) {
	case 1:
		o.Quorum = sim.RandomQuorum
	case 2:
		o.Quorum, o.Epochs = sim.RandomQuorum, true
	case 3:
		o.Broadcast = cast
	case 4:
		o.Collation = tree
	case 5:
		o.Broadcast, o.Quorum, o.Unequal = cast, sim.RandomQuorum, true
	}
}

// varyRestless has two to seven nodes in all modes and ranks with all features in 24 seeds.
func varyRestless(seed uint64, o *sim.Options) {
	c := choices(seed - 1)
	c.everything(seed, o)
}

// varyPreempted has two to seven nodes in all modes and ranks with all features, with clocks as
// usual, clocks that drift much and coarse clocks, in 96 seeds.
func varyPreempted(seed uint64, o *sim.Options) {
	c := choices(seed - 1)
	c.everything(seed, o)
	o.Timing = [...]timed.Timing{timed.LAN(), timed.Local(), loose, fine}[c.next(4)]
	o.Duration = 200 * o.Timing.Expires
	if o.Timing == fine {
		o.Resolution = sim.MaxResolution
	}
}

// varyCoarse has two to seven nodes in all modes and ranks with all features, with leaders
// that keep their leads and with restless ones, in 48 seeds.
func varyCoarse(seed uint64, o *sim.Options) {
	c := choices(seed - 1)
	c.everything(seed, o)
	o.Restless, o.Duration = c.next(2) == 0, 200*o.Timing.Expires
}

// varyDays has two to six nodes with all presets, modes, ranks and features. Between two
// periods of faults nodes rest for minutes to hours.
func varyDays(seed uint64, o *sim.Options) {
	c := choices(seed - 1)
	c.presets(o)
	c.everything(seed, o)
	o.Duration, o.Rest, o.Nodes = 100_000*o.Timing.Expires, 20_000*o.Timing.Expires, 2+int(seed/5%5)
}

// varyLate has two to seven nodes in all modes and ranks. Some packets come up to minutes
// late, once more or for the first time, and nodes forget peers for a while. A stable period
// ends faults, so they begin again and again.
func varyLate(seed uint64, o *sim.Options) {
	const again = 10 * time.Second
	c := choices(seed - 1)
	c.modes(o)
	o.Nodes, o.Codec = 2+int(seed%6), seed%5 == 0
	r := random.New(seed, random.Apps<<8)
	replays, lates := r.LogUniform(0.001, 0.05), r.LogUniform(0.001, 0.02)
	o.Faults = nil
	for at := time.Duration(0); at < o.Duration; at += again {
		o.Faults = append(o.Faults,
			fault.Fault{At: at, Kind: fault.Replay, Rate: replays, Extra: o.Duration / 2},
			fault.Fault{At: at, Kind: fault.Late, Rate: lates, Extra: o.Duration / 2})
	}
	unlist(r, o, 10*time.Second)
}

// varyLoaded has two to seven nodes in all modes and ranks. All of them fill their windows
// again and again, with payloads of up to a quarter of a share.
func varyLoaded(seed uint64, o *sim.Options) {
	c := choices(seed - 1)
	c.modes(o)
	o.Nodes = 2 + int(seed%6)
	r := random.New(seed, random.Apps<<8)
	k := &broadcast.Config{Window: int(r.LogUniform(1<<14, 1<<18)), PacketBytes: int(r.LogUniform(256, 1400)), MaxMessages: int(r.LogUniform(64, 2048)),
		Backlog: int(r.LogUniform(1<<13, 1<<18)), SlowAfter: time.Duration(r.LogUniform(0.5, 3) * float64(timed.LAN().Expires))}
	k.MaxPayload = max(64, min(k.Window/o.Nodes/4, 12_000, k.PacketBytes*k.MaxMessages))
	o.Broadcast, o.Faults = &sim.Broadcast{Config: k}, nil
	for at := time.Duration(0); at < o.Duration; at += time.Duration(r.Exponential() * float64(100*time.Millisecond)) {
		for id := range o.Nodes {
			o.Faults = append(o.Faults, fault.Fault{At: at, Kind: fault.Burst, Node: timed.NodeID(id + 1), Size: int(r.Between(1, 150))})
		}
	}
	unlist(r, o, 2*time.Second)
}

// unlist has nodes forget a peer, or all of them, about every so often.
func unlist(r random.Stream, o *sim.Options, every time.Duration) {
	for at := time.Duration(0); ; {
		if at += time.Duration(r.Exponential() * float64(every)); at >= o.Duration {
			return
		}
		f := fault.Fault{At: at, Kind: fault.Unlist, For: time.Duration(r.LogUniform(0.01, 10) * float64(timed.LAN().Expires))}
		if r.Chance(0.8) {
			f.Node = timed.NodeID(r.Between(1, int64(o.Nodes)))
			if f.Peer = timed.NodeID(r.Between(1, int64(o.Nodes))); f.Peer == f.Node {
				f.Peer = f.Node%timed.NodeID(o.Nodes) + 1
			}
		}
		o.Faults = append(o.Faults, f)
	}
}
