package exhaust

import (
	"iter"
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
	idle []*claims      // of the other nodes
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
		var arrivals []flight
		for _, f := range s.air {
			if f.packet.Header.Destination == id && f.arrives <= s.tick {
				arrivals = append(arrivals, f)
			}
		}
		if n.asleep > s.tick || len(arrivals) == 0 && n.due > s.tick {
			x.idle = append(x.idle, n.claims)
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
	for i := range x.outs {
		for a := range x.outs[i] {
			for k := range x.outs[i][a].claims {
				if x.refuted(i, a, &x.outs[i][a].claims[k]) {
					return
				}
			}
		}
	}
}

// refuted reports whether a claim of the i-th node, in its outcome a, contradicts one of a
// node that is idle or acts later.
func (x *expansion) refuted(i, a int, mine *claims) bool {
	at := x.from.tick * x.w.grain
	for _, other := range x.idle {
		if f := x.w.together(mine, other, at); f != nil {
			x.blame(f, i, a, i, a)
			return true
		}
	}
	for j := i + 1; j < len(x.outs); j++ {
		for b := range x.outs[j] {
			for k := range x.outs[j][b].claims {
				if f := x.w.together(mine, &x.outs[j][b].claims[k], at); f != nil {
					x.blame(f, i, a, j, b)
					return true
				}
			}
		}
	}
	return false
}

// Choice is the choice at one tick: an outcome for each node that acts, and a fate for
// each message whose fate is chosen.
type Choice struct {
	Outcomes []int  `json:"outcomes"`
	Fates    string `json:"fates,omitempty"` // a letter a message: i(n time), l(ate), x (lost), v(ery late)
}

const fateLetters = "ilxv"

// choices yields every choice that ends differently, and the state after it. The outcomes
// are valid until the next choice.
func (x *expansion) choices() iter.Seq2[Choice, *state] {
	return func(yield func(Choice, *state) bool) {
		lengths := make([]int, len(x.ids))
		for i := range lengths {
			lengths[i] = len(x.outs[i])
		}
		for outcomes := range combinations(lengths) {
			if x.twins(outcomes) {
				continue
			}
			for fates, next := range x.fates(outcomes) {
				if !yield(Choice{outcomes, fates}, next) {
					return
				}
			}
		}
	}
}

// twins reports whether other outcomes end alike.
func (x *expansion) twins(outcomes []int) bool {
	for i, o := range outcomes {
		if x.outs[i][o].twin {
			return true
		}
	}
	return false
}

// fates yields the letters of every fate of the messages that the outcomes send, and the
// state after it.
func (x *expansion) fates(outcomes []int) iter.Seq2[string, *state] {
	return func(yield func(string, *state) bool) {
		base, sent := x.apply(outcomes)
		if base == nil {
			return // more crashes, stalls or resignations than are left
		}
		n := min(len(sent), x.w.opt.Depth-base.depth)
		base.depth += n
		kinds := veryLate
		if x.w.opt.VeryLate {
			kinds = fates
		}
		for chosen := range combinations(slices.Repeat([]fate{kinds}, n)) {
			if next := x.send(base, sent, chosen); next != nil && !yield(lettersOf(chosen), next) {
				return
			}
		}
	}
}

// combinations yields every list of numbers below the given ones, the first one running
// fastest. A list is valid until the next one.
func combinations[T int | fate](below []T) iter.Seq[[]T] {
	return func(yield func([]T) bool) {
		list := make([]T, len(below))
		for yield(list) {
			i := 0
			for ; i < len(list); i++ {
				if list[i]++; list[i] < below[i] {
					break
				}
				list[i] = 0
			}
			if i == len(list) {
				return
			}
		}
	}
}

// apply returns the state after the outcomes, and apart from it the messages sent.
func (x *expansion) apply(outcomes []int) (*state, []*message) {
	next := *x.from
	next.nodes = slices.Clone(x.from.nodes)
	next.lines = slices.Clone(x.from.lines)
	var took timed.Set
	var sent []*message
	for i, id := range x.ids {
		o := &x.outs[i][outcomes[i]]
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
func (x *expansion) send(base *state, sent []*message, chosen []fate) *state {
	next := *base
	next.air = append(make([]flight, 0, len(base.air)+len(sent)), base.air...)
	for i, m := range sent {
		k := inTime
		if i < len(chosen) {
			k = chosen[i]
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
