package sim

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/random"
	"github.com/failaware/failaware/timed"
)

// Traffic is the broadcast of a world: how its nodes are configured, and what
// they broadcast by themselves.
type Traffic struct {
	// Config is that of all nodes, but for Self and Timing.
	Config broadcast.Config
	// Rate is how often a second of true time each node broadcasts, on average;
	// 0: never by itself. Each time it broadcasts up to three messages.
	Rate float64
	// Largest is the largest payload, in bytes. Sizes are spread evenly over
	// their orders of magnitude.
	Largest int
	// Hush lets nodes broadcast nothing while the world is held still, so that
	// what was lost last shows by nothing that follows.
	Hush bool
	// Mix are the options that messages have, each as often as the others.
	Mix []broadcast.Options
}

// Limits of traffic.
const (
	// MaxTraffic is the largest Rate.
	MaxTraffic = 1e6
	// leastTraffic is the smallest Largest: it holds what tells messages apart.
	leastTraffic = 16
)

// Validate reports traffic that no world can have, by the name of the field.
func (t *Traffic) Validate() error {
	if err := t.Config.Validate(); err != nil {
		return fmt.Errorf("sim: traffic: %w", err)
	}
	switch c := t.Config.WithDefaults(); {
	case !(t.Rate >= 0 && t.Rate <= MaxTraffic):
		return fmt.Errorf("sim: traffic: Rate: %v is outside [0, %v]", t.Rate, float64(MaxTraffic))
	case t.Largest < leastTraffic || t.Largest > c.MaxPayload:
		return fmt.Errorf("sim: traffic: Largest: %d is outside [%d, %d]", t.Largest, leastTraffic, c.MaxPayload)
	case len(t.Mix) == 0:
		return errors.New("sim: traffic: Mix is empty")
	}
	for _, o := range t.Mix {
		if !o.Valid() {
			return fmt.Errorf("sim: traffic: Mix: %v %v: no such options", o.Order, o.Atomicity)
		}
	}
	return nil
}

// allOptions are the nine combinations of order and atomicity. Random draws of
// recorded seeds depend on their sequence.
func allOptions() (all []broadcast.Options) {
	for _, o := range []broadcast.Order{broadcast.Unordered, broadcast.TotalOrder, broadcast.TimedOrder} {
		for _, a := range []broadcast.Atomicity{broadcast.WeakAtomicity, broadcast.StrongAtomicity, broadcast.StrictAtomicity} {
			all = append(all, broadcast.Options{Order: o, Atomicity: a})
		}
	}
	return all
}

// Shares of seeds.
const (
	quorumSeeds = 0.25 // order messages in quorums only
	fullMix     = 0.4  // have all nine combinations
	largeSeeds  = 0.4  // have payloads of many fragments
	wideSeeds   = 0.2  // send packets as large as datagrams can be
	hushSeeds   = 0.3  // have still periods without messages
)

// traffic draws what the nodes of a seed broadcast, and what strikes their
// applications. It has a stream of its own, so that all else is as it is without
// a broadcast.
func (f *forecaster) traffic() *Traffic {
	s, b := random.New(f.seed, random.Traffic), f.opt.Broadcast
	t := &Traffic{Config: drawConfig(s, f.opt.Timing, f.all), Mix: drawMix(s), Hush: s.Chance(hushSeeds)}
	t.Largest = int(s.LogUniform(leastTraffic, 400))
	if s.Chance(largeSeeds) {
		t.Largest = int(s.LogUniform(400, largestDrawn))
	}
	t.Config.MaxPayload = t.Largest
	if b.Config != nil {
		t.Config = *b.Config
		t.Largest = max(leastTraffic, min(t.Largest, t.Config.WithDefaults().MaxPayload))
	}
	if !b.Quiet {
		t.Rate = s.LogUniform(0.1, 10) / f.opt.Timing.Expires.Seconds()
	}
	if !f.opt.Calm {
		f.castFaults(s, b.Quiet)
	}
	return t
}

// drawConfig draws a configuration in which limits are reached now and then.
func drawConfig(s random.Stream, t timed.Timing, all timed.Set) broadcast.Config {
	c := broadcast.Config{
		Window:      int(s.LogUniform(1<<13, 1<<19)),
		MaxMessages: int(s.LogUniform(largestDrawn/broadcast.MinPacketBytes+1, 2048)),
		PacketBytes: int(s.LogUniform(256, 1400)),
		Backlog:     int(s.LogUniform(1<<12, 1<<18)),
		SlowAfter:   max(timed.MinDuration, time.Duration(s.LogUniform(0.5, 5)*float64(t.Expires))),
	}
	if s.Chance(wideSeeds) {
		c.PacketBytes = int(s.LogUniform(1400, broadcast.MaxPacketBytes))
	}
	if s.Chance(quorumSeeds) {
		c.RequireQuorum = all
	}
	return c
}

// drawMix draws which options messages have.
func drawMix(s random.Stream) []broadcast.Options {
	all := allOptions()
	if s.Chance(fullMix) {
		return all
	}
	for i := range all { // some of them, in any order
		j := i + int(s.Below(int64(len(all)-i)))
		all[i], all[j] = all[j], all[i]
	}
	return slices.Clone(all[:s.Between(1, 4)])
}

// castFaults draws bursts and slow applications.
func (f *forecaster) castFaults(s random.Stream, quiet bool) {
	f.on[ClassBurst], f.on[ClassSlowConsumer] = s.Chance(0.5) && !quiet, s.Chance(0.5)
	if !f.on[ClassBurst] && !f.on[ClassSlowConsumer] {
		return
	}
	expires := float64(f.opt.Timing.Expires)
	pace := s.LogUniform(2, 12) / max(f.opt.Roughness, 0.1) * expires
	for at := time.Duration(0); ; {
		at += time.Duration(pace * (0.05 + 2*s.Unit()))
		if at >= f.opt.Duration {
			return
		}
		x := Fault{At: at, Node: timed.NodeID(1 + s.Below(int64(f.opt.Nodes)))}
		if burst := s.Chance(0.5); burst && f.on[ClassBurst] || !f.on[ClassSlowConsumer] {
			x.Kind, x.Size = Burst, int(s.LogUniform(4, mostInBurst))
		} else {
			x.Kind, x.For = SlowConsumer, time.Duration(s.LogUniform(0.05, 15)*expires)
		}
		f.out = append(f.out, x)
	}
}

// largestDrawn is the largest payload that random worlds have, in bytes.
const largestDrawn = 12_000

// mostInBurst is how many messages a random burst has at most.
const mostInBurst = 300

// gap draws the time until a node's next messages.
func (t *Traffic) gap(s random.Stream) int64 { return 1 + int64(s.Exponential()/t.Rate*1e9) }

// draw draws the options and the size of a message.
func (t *Traffic) draw(s random.Stream) (broadcast.Options, int) {
	opt := t.Mix[s.Below(int64(len(t.Mix)))]
	return opt, int(s.LogUniform(leastTraffic, float64(t.Largest)+1))
}

// fill writes a payload that no other message has.
func (t *Traffic) fill(b []byte, n *Node, size int, count uint64) []byte {
	b = binary.BigEndian.AppendUint64(b, uint64(n.boot))
	b = binary.BigEndian.AppendUint64(b, count)
	for i := len(b); i < size; i++ {
		b = append(b, byte(i)^byte(count))
	}
	return b
}
