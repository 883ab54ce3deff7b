package exhaust

import (
	"slices"

	"github.com/failaware/failaware/timed"
)

// expansion is all that can happen at the tick of a state: one outcome for each
// node that acts, and one fate for each message that they send.
type expansion struct {
	w    *world
	from *state
	ids  []timed.NodeID // the nodes that act
	outs [][]outcome    // of each of them
	bad  *failure
	at   []int // the outcomes that fail
}

// expand explores and checks all possible events at the tick of a state. No message is
// faster than a tick, so the order of two nodes' turns within it matters only to an
// observer between them. The claims of one at any point of the tick are therefore checked
// against the claims of the other at any point.
func (w *world) expand(s *state) *expansion {
	x := &expansion{w: w, from: s}
	for i := range s.nodes {
		n, id := &s.nodes[i], timed.NodeID(i+1)
		if n.asleep > s.tick {
			continue
		}
		var arrivals []flight
		for _, f := range s.air {
			if f.packet.Header.Destination == id && f.arrives <= s.tick {
				arrivals = append(arrivals, f)
			}
		}
		if len(arrivals) == 0 && n.due > s.tick {
			continue
		}
		outs, bad := w.outcomes(s, id, arrivals)
		x.ids, x.outs = append(x.ids, id), append(x.outs, outs)
		if bad != nil {
			x.blame(bad, len(x.ids)-1, len(outs)-1, 0, 0)
			return x
		}
	}
	x.check()
	return x
}

// blame notes a failure, and which outcomes show it.
func (x *expansion) blame(f *failure, i, a, j, b int) {
	x.bad, x.at = f, make([]int, len(x.ids))
	x.at[j] = b
	x.at[i] = a
}

// check holds the claims of the nodes against each other.
func (x *expansion) check() {
	at := x.from.tick * x.w.grain
	for i, id := range x.ids {
		for a := range x.outs[i] {
			for k := range x.outs[i][a].claims {
				mine := &x.outs[i][a].claims[k]
				for n := range x.from.nodes {
					if other := timed.NodeID(n + 1); other != id && !slices.Contains(x.ids, other) {
						if f := x.w.together(mine, x.from.nodes[n].claims, at); f != nil {
							x.blame(f, i, a, i, a)
							return
						}
					}
				}
				for j := i + 1; j < len(x.ids); j++ {
					for b := range x.outs[j] {
						for l := range x.outs[j][b].claims {
							if f := x.w.together(mine, &x.outs[j][b].claims[l], at); f != nil {
								x.blame(f, i, a, j, b)
								return
							}
						}
					}
				}
			}
		}
	}
}

// Choice is the choice at one tick: an outcome for each node that acts, and a fate for
// each message whose fate is chosen.
type Choice struct {
	Outcomes []int  `json:"outcomes"`
	Fates    string `json:"fates,omitempty"` // a letter a message: i(n time), l(ate), x (lost), v(ery late)
}

const fateLetters = "ilxv"

// each calls f with every choice that ends differently, and the state after it.
// The choice is valid until f returns.
func (x *expansion) each(f func(c *Choice, next *state)) {
	c := Choice{Outcomes: make([]int, len(x.ids))}
	for {
		if !x.twins(&c) {
			x.fates(&c, f)
		}
		i := 0
		for ; i < len(c.Outcomes); i++ {
			if c.Outcomes[i]++; c.Outcomes[i] < len(x.outs[i]) {
				break
			}
			c.Outcomes[i] = 0
		}
		if i == len(c.Outcomes) {
			return
		}
	}
}

// twins reports whether another choice ends alike.
func (x *expansion) twins(c *Choice) bool {
	for i, o := range c.Outcomes {
		if x.outs[i][o].twin {
			return true
		}
	}
	return false
}

// fates calls f with every fate of the messages sent.
func (x *expansion) fates(c *Choice, f func(c *Choice, next *state)) {
	base, sent := x.apply(c)
	if base == nil {
		return // more crashes, stalls or resignations than are left
	}
	chosen := min(len(sent), x.w.opt.Depth-base.depth)
	base.depth += chosen
	kinds := byte(3)
	if x.w.opt.VeryLate {
		kinds = 4
	}
	fate := make([]byte, chosen)
	for {
		if next := x.send(base, sent, fate); next != nil {
			letters := make([]byte, chosen)
			for i, k := range fate {
				letters[i] = fateLetters[k]
			}
			c.Fates = string(letters)
			f(c, next)
		}
		i := 0
		for ; i < chosen; i++ {
			if fate[i]++; fate[i] < kinds {
				break
			}
			fate[i] = 0
		}
		if i == chosen {
			return
		}
	}
}

// apply returns the state after the outcomes, and apart from it the messages sent.
func (x *expansion) apply(c *Choice) (*state, []*message) {
	next := *x.from
	next.nodes = slices.Clone(x.from.nodes)
	next.lines = slices.Clone(x.from.lines)
	var took timed.Set
	var sent []*message
	for i, id := range x.ids {
		o := &x.outs[i][c.Outcomes[i]]
		switch o.kind {
		case crashes:
			next.crashes++
		case stalls:
			next.stalls++
		case resigns:
			next.resigns++
		}
		if o.kind != stalls {
			took.Add(id)
		}
		*next.node(id) = o.node
		sent = append(sent, o.sent...)
		if o.line != nil {
			next.lines = append(next.lines, *o.line)
		}
	}
	if o := &x.w.opt; int(next.crashes) > o.Crashes || int(next.stalls) > o.Stalls || int(next.resigns) > o.Resigns {
		return nil, nil
	}
	next.air = nil
	for _, f := range x.from.air {
		if f.arrives > x.from.tick || !took.Has(f.packet.Header.Destination) {
			next.air = append(next.air, f)
		}
	}
	return &next, sent
}

// send returns the state after the messages were sent with the given fates, or
// nil if more of them fail than may. Those beyond the depth are in time.
func (x *expansion) send(base *state, sent []*message, chosen []byte) *state {
	next := *base
	next.air = append(make([]flight, 0, len(base.air)+len(sent)), base.air...)
	for i, m := range sent {
		k := inTime
		if i < len(chosen) {
			k = fate(chosen[i])
		}
		if k != inTime && x.w.opt.Faults > 0 {
			if next.faults++; int(next.faults) > x.w.opt.Faults {
				return nil
			}
		}
		if k != lost {
			next.air = append(next.air, flight{m, x.from.tick + x.w.delay[k]})
		}
	}
	next.last = next.spent() && !x.from.spent()
	next.endTick()
	return &next
}
