package sim

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/sim/fault"
	"github.com/failaware/failaware/timed"
)

// Rounds is the cost of the elections of a group in a still world. Times and packets are
// those of the simulated world, and depend on the seed alone. Receive is measured with the
// real clock.
type Rounds struct {
	Count     int             // renewals of the leader's lease that were measured
	Times     []time.Duration // of each, in true time: from its request until it was won
	Elections []time.Duration // from the crash of a leader of a group at rest until all others support another
	Returns   []time.Duration // likewise, if the leader has just been joined by a node that had crashed
	Received  float64         // packets that reached the leader, per renewal
	Sent      float64         // packets that the leader sent, per renewal
	Group     float64         // packets that all nodes sent, per renewal
	Answers   float64         // of those, packets with replies
	// Receive is the time in which the leader decoded and handled the packets received
	// from one renewal to the next. It is the median of all renewals, because other load
	// of the machine makes some a thousand times as long.
	Receive time.Duration
}

// roundsMeter counts packets, and measures the time that one node spends on those that it
// receives.
type roundsMeter struct {
	node     *Node
	codec    codec
	received uint64
	sent     uint64
	group    uint64
	answers  uint64
	spent    time.Duration
}

// handle lets a node handle a packet. The measured node decodes it first, as it does
// packets from a socket.
func (m *roundsMeter) handle(n *Node, now timed.Instant, p *wire.Packet, out []stack.Effect) []stack.Effect {
	if n != m.node {
		return n.proc.Stack.HandlePacket(now, now, p, out)
	}
	m.received++
	b, err := m.codec.encode(p)
	if err != nil {
		return n.proc.Stack.HandlePacket(now, now, p, out)
	}
	start := time.Now()
	if m.codec.dec.Decode(b, &m.codec.junk) == nil {
		out = n.proc.Stack.HandlePacket(now, now, &m.codec.junk, out)
	}
	m.spent += time.Since(start)
	return out
}

// countSent counts a packet that a node sends.
func (m *roundsMeter) countSent(n *Node, p *wire.Packet) {
	m.group++
	if n == m.node {
		m.sent++
	}
	if p.Has(wire.FrameReply) || p.Has(wire.FrameCollated) {
		m.answers++
	}
}

// MeasureRounds measures renewals in a world without faults, with the given baseline
// delays, and then crashes of leaders: crashes times each of the two kinds of [Rounds].
// Crashed nodes restart. The crashes are spread over the election period. It ends early
// when ctx is done, with the result so far.
func MeasureRounds(ctx context.Context, seed uint64, opt Options, weather fault.Baseline, renewals, crashes int) (*Rounds, error) {
	opt.Calm, opt.Duration = true, fault.MaxDuration
	c, err := CaseOf(seed, opt)
	if err != nil {
		return nil, err
	}
	c.Schedule.Baseline = weather
	w, err := c.World()
	if err != nil {
		return nil, err
	}
	r := new(Rounds)
	head, err := w.awaitLeader(ctx)
	if err != nil {
		return r, err
	}
	if err := r.measureRenewals(ctx, w, head, renewals); err != nil {
		return r, err
	}
	for range crashes {
		if head, err = w.measureCrash(ctx, head, 10*w.opt.Timing.Expires, &r.Elections); err != nil {
			return r, err
		}
		if head, err = w.measureCrash(ctx, head, 0, &r.Returns); err != nil {
			return r, err
		}
	}
	return r, nil
}

// measureCrash crashes the leader after a time and up to a period more, appends to took the
// time until all others support another leader, restarts the node, and returns the next
// leader of all.
func (w *World) measureCrash(ctx context.Context, head *Node, after time.Duration, took *[]time.Duration) (*Node, error) {
	if !w.runUntil(w.now + int64(after) + w.chaos.Below(int64(w.opt.Timing.ElectionPeriod))) {
		return nil, w.failed
	}
	began := w.now
	w.crash(head)
	if _, err := w.awaitLeader(ctx); err != nil {
		return nil, err
	}
	*took = append(*took, time.Duration(w.now-began))
	w.restart(head)
	return w.awaitLeader(ctx)
}

// awaitLeader lets time pass until one node leads all that run, and returns it.
func (w *World) awaitLeader(ctx context.Context) (head *Node, err error) {
	var up timed.Set
	for _, n := range w.nodes {
		if n.proc.Up {
			up.Add(n.proc.ID)
		}
	}
	limit := 2 * (w.bounds.View + w.bounds.Rejoin)
	err = w.RunUntil(limit, func() bool {
		if ctx.Err() != nil {
			return true
		}
		for i, n := range w.nodes {
			if w.check.Leads(i) && w.check.Claims[i].Support == up {
				head = n
				return true
			}
		}
		return false
	})
	if err == nil {
		err = context.Cause(ctx)
	}
	return head, err
}

// measureRenewals measures renewals of a leader, after a time in which the group comes to
// rest.
func (r *Rounds) measureRenewals(ctx context.Context, w *World, head *Node, count int) error {
	if !w.runUntil(w.now + int64(10*w.opt.Timing.Expires)) {
		return w.failed
	}
	el := head.proc.Stack.Election()
	m := &roundsMeter{node: head}
	m.codec.enc.MaxPacket = wire.PacketFor(timed.MaxNodes)
	w.meter = m
	defer func() { w.meter = nil }()
	var request timed.Instant
	var began int64
	var spent []time.Duration
	held, _ := el.Leading()
	for r.Count < count && ctx.Err() == nil {
		if !w.step() {
			return w.failed
		}
		if now := el.LastRequest(); now != request {
			request, began = now, w.now
		}
		until, leads := el.Leading()
		if !leads {
			return errors.New("sim: the leader lost its lease in a still world")
		}
		if until == held {
			continue
		}
		held = until
		if r.Count == 0 && r.Times == nil { // the first renewal began before the measurement
			*m = roundsMeter{node: head, codec: m.codec}
			r.Times = []time.Duration{}
			continue
		}
		r.Count++
		spent = append(spent, m.spent)
		m.spent = 0
		r.Times = append(r.Times, time.Duration(w.now-began))
	}
	n := float64(max(r.Count, 1))
	r.Received, r.Sent, r.Group = float64(m.received)/n, float64(m.sent)/n, float64(m.group)/n
	r.Answers = float64(m.answers) / n
	if slices.Sort(spent); len(spent) > 0 {
		r.Receive = spent[len(spent)/2]
	}
	return context.Cause(ctx)
}
