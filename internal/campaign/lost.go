package campaign

import (
	"time"

	"github.com/failaware/failaware/internal/random"
	"github.com/failaware/failaware/sim"
	"github.com/failaware/failaware/sim/fault"
	"github.com/failaware/failaware/timed"
)

// What packets say in a group at rest, and when its leader or its members change. The
// important ones are listed twice.
var (
	resting     = []fault.Content{fault.Keepalive, fault.Renewal, fault.Vote, fault.Question, fault.Answer, fault.Collated}
	restingCast = []fault.Content{fault.Messages, fault.Messages, fault.Decision, fault.Decision, fault.Ack, fault.Vote, fault.Renewal}
	changing    = []fault.Content{fault.Keepalive, fault.Request, fault.Proposal, fault.Proposal, fault.Committed, fault.Committed, fault.Vote,
		fault.Refusal, fault.Release, fault.Resigned, fault.Dropped}
	changingCast = []fault.Content{fault.Report, fault.Plan, fault.Terms, fault.Flushed, fault.Messages, fault.Decision}
)

// lostWorld draws the faults of a still world that loses single packets.
type lostWorld struct {
	random.Stream
	o     *sim.Options
	still time.Duration // covers the bounds after a change
	mend  time.Duration // covers what a loss causes
	at    time.Duration // of the next fault
}

// varyLost has two to seven nodes in all modes, ranks and presets, with and without
// quorums, a broadcast and collated replies, in 72 seeds. Packets are lost one at a time.
func varyLost(seed uint64, o *sim.Options) {
	const changes = 4
	c := choices(seed - 1)
	c.presets(o)
	c.modes(o)
	o.Calm, o.Nodes, o.Codec = true, 2+int(seed/5%6), seed%5 == 0
	switch c.next(6) {
	case 1:
		o.Quorum = sim.RandomQuorum
	case 2:
		o.Broadcast = cast
	case 3:
		o.Collation = tree
	case 4:
		o.Broadcast, o.Quorum = cast, sim.RandomQuorum
	case 5:
		o.Broadcast, o.Collation = cast, tree
	}
	b, _ := o.Timing.Validate()
	w := lostWorld{Stream: random.New(seed, random.Apps<<8), o: o, still: b.View + b.Rejoin + 2*o.Timing.Expires, mend: 6 * o.Timing.Expires}
	o.Faults = nil
	for range changes {
		w.change()
	}
	o.Duration = w.at
}

// change draws a change of the group, the loss of a packet during it, and others
// afterwards.
func (w *lostWorld) change() {
	const losses = 3
	expires := w.o.Timing.Expires
	node := timed.NodeID(w.Between(1, int64(w.o.Nodes)))
	f := fault.Fault{Kind: fault.Heal, At: w.at}
	lose := fault.Fault{Kind: fault.Lose, At: w.at, What: w.content(changing, changingCast), Size: int(w.Below(int64(w.o.Nodes))), For: w.still}
	switch w.Below(4) {
	case 0:
		for id := range w.o.Nodes { // the leader alone can
			w.add(fault.Fault{Kind: fault.Resign, At: w.at, Node: timed.NodeID(id + 1)})
		}
	case 1, 2:
		w.add(fault.Fault{Kind: fault.Crash, At: w.at, Node: node})
		if w.Chance(0.3) && w.o.Nodes > 1 {
			f.Down.Add(node)
		} else {
			f.At += time.Duration(w.LogUniform(0.01, 3) * float64(expires))
			lose.At = f.At
		}
	case 3:
		w.add(fault.Fault{Kind: fault.Split, At: w.at, Blocks: []timed.Set{timed.SetOf(node)}})
		f.At += time.Duration(w.LogUniform(1, 12) * float64(expires))
		lose.At = f.At
	}
	f.For = w.still + w.mend + losses*2*w.mend
	w.add(lose)
	w.add(f)
	w.at = f.At + w.still + w.mend
	for range losses {
		w.add(fault.Fault{Kind: fault.Lose, At: w.at + time.Duration(w.Below(int64(expires))), What: w.content(resting, restingCast),
			Size: int(w.Below(int64(2 * w.o.Nodes))), For: w.mend})
		w.at += 2 * w.mend
	}
}

func (w *lostWorld) content(all, cast []fault.Content) fault.Content {
	if w.o.Broadcast != nil && w.Chance(0.5) {
		all = cast
	}
	return all[w.Below(int64(len(all)))]
}

func (w *lostWorld) add(f fault.Fault) { w.o.Faults = append(w.o.Faults, f) }
