package exhaust

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/timed"
)

// A state that is taken and loaded again, in its one form, acts like a stack
// that just goes on: on random paths with every kind of fault, both say the same
// at the same time and claim the same. So the fields that images
// leave out or bring into a form do not matter.
func TestLoadedStatesActLikeLiveOnes(t *testing.T) {
	for _, opt := range []Options{
		{},
		{Nodes: 3},
		{Nodes: 3, Mode: leader.Strict, RankBy: leader.ByID},
		{Nodes: 4},
	} {
		opt.VeryLate, opt.Crashes, opt.Stalls, opt.Starts = true, MaxBudget, MaxBudget, []Start{Cold}
		opt = opt.withDefaults()
		for _, root := range roots(opt) {
			for seed := range uint64(5) {
				w := newWorld(opt, root)
				newTwins(t, w, rand.New(rand.NewPCG(seed, 0))).walk(300)
			}
		}
	}
}

// twins are a state of the model and stacks that have been through the same.
type twins struct {
	t    *testing.T
	w    *world
	rand *rand.Rand
	s    *state
	live []*machine // by id, without a layout: they can be neither taken nor loaded
}

func newTwins(t *testing.T, w *world, r *rand.Rand) *twins {
	s, bad := w.start()
	require.Nil(t, bad)
	tw := &twins{t: t, w: w, rand: r, s: s, live: make([]*machine, w.opt.Nodes+1)}
	for i := range s.nodes {
		tw.start(timed.NodeID(i+1), 0, s.nodes[i].img.shown)
	}
	return tw
}

func (tw *twins) start(id timed.NodeID, boots uint8, wall clocksync.Time) {
	tw.live[id] = &machine{st: tw.w.incarnate(id, boots, tw.s.tick, wall), self: id}
}

func (tw *twins) walk(ticks int) {
	for range ticks {
		x := tw.w.expand(tw.s)
		require.Nil(tw.t, x.bad)
		outcomes := make([]int, len(x.ids))
		for i, id := range x.ids {
			outcomes[i] = tw.choose(x.outs[i])
			tw.follow(id, &x.outs[i][outcomes[i]])
		}
		base, sent := x.apply(outcomes)
		require.NotNil(tw.t, base)
		fates := make([]fate, len(sent))
		for i := range fates {
			fates[i] = fate(max(tw.rand.IntN(12)-8, 0)) // one in four is not in time
		}
		tw.s = x.send(base, sent, fates)
	}
}

// choose picks one of the orders of events; now and then, a crash or a stall.
func (tw *twins) choose(outs []outcome) int {
	rare := tw.rand.IntN(100) == 0
	for {
		if i := tw.rand.IntN(len(outs)); rare || outs[i].kind == acts {
			return i
		}
	}
}

// follow lets the live stack handle the events of the loaded one.
func (tw *twins) follow(id timed.NodeID, o *outcome) {
	switch o.kind {
	case crashes:
		tw.start(id, o.node.boots, o.node.img.shown)
	case acts:
		live := tw.w.begin(tw.live[id], tw.s, tw.s.tick)
		for _, m := range o.events {
			live.perform(m)
		}
		require.Nil(tw.t, live.failed)
		require.Equal(tw.t, o.claims, live.claims)
		require.Equal(tw.t, o.line, live.line)
		require.Len(tw.t, live.sent, len(o.sent))
		for i := range o.sent {
			require.Equal(tw.t, o.sent[i], live.sent[i])
		}
		require.Equal(tw.t, o.node.due, max(tw.w.due(id, live.m.st.Deadline()), tw.s.tick+1))
	}
}
