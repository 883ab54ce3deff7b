package replicated

import (
	"time"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/random"
	"github.com/failaware/failaware/sim/fault"
	"github.com/failaware/failaware/timed"
)

// Nodes that are apart. In quorums, the others order messages of a node that does not hear
// this, and is alone from then on. Then it meets nodes that were not there themselves, but have
// the state of those that were. None of its messages may be ordered again.
//
// Without quorums, a node meets so many others, each alone and each in another incarnation, that
// the broadcast cannot remember all of them when these meet.

// strangers are the nodes of a world in which a node has more incarnations than are remembered.
const strangers = broadcast.MostIncarnations + 2

// drawApart draws the nodes of a world with nodes that are apart, and its other faults.
func (l *load) drawApart(r random.Stream, o Options) {
	l.nodes, l.roughness, l.calm = strangers, 0.5, true
	if o.Quorum {
		l.nodes, l.calm = int(r.Between(5, 6)), r.Chance(0.7) // a quorum can spare a node without memory
	}
}

// apart returns the faults of a run that take nodes apart.
type apart struct {
	rand random.Stream
	all  timed.Set
	at   time.Duration
	out  []fault.Fault
}

func (s *run) apart() []fault.Fault {
	a := apart{rand: random.New(s.seed, random.Apps<<8|2), all: s.all()}
	if !s.opt.Quorum {
		a.meetStrangers()
		return a.out
	}
	for a.at = a.ms(400, 900); a.at < rage; a.at += a.ms(300, 900) {
		a.forget()
	}
	return a.out
}

// ms draws some milliseconds.
func (a *apart) ms(least, most int64) time.Duration {
	return time.Duration(a.rand.Between(least, most)) * time.Millisecond
}

// shuffled returns nodes in a random order.
func (a *apart) shuffled(nodes timed.Set) (ids []timed.NodeID) {
	for id := range nodes.All() {
		ids = append(ids, id)
	}
	for i := range ids {
		j := i + int(a.rand.Below(int64(len(ids)-i)))
		ids[i], ids[j] = ids[j], ids[i]
	}
	return ids
}

// fault adds a fault that begins now.
func (a *apart) fault(f fault.Fault) {
	f.At = a.at
	a.out = append(a.out, f)
}

// deaf lets a node hear nothing for a while, in which the others order its messages.
func (a *apart) deaf(id timed.NodeID) {
	d := a.ms(10, 120)
	a.fault(fault.Fault{Kind: fault.Deaf, Node: id, For: d})
	a.at += d
}

// split lets only nodes of one block hear each other for a while.
func (a *apart) split(d time.Duration, blocks ...timed.Set) {
	a.fault(fault.Fault{Kind: fault.Split, Blocks: blocks, For: d})
	a.at += d
}

// forget takes a node apart. Some of the others end and come back, one after the other. Then
// these are with the first one alone.
func (a *apart) forget() {
	ids := a.shuffled(a.all)
	sender, rest := ids[0], ids[1:]
	a.deaf(sender)
	meeting := timed.SetOf(sender)
	others := a.all.Without(sender)
	a.split(a.ms(150, 500), timed.SetOf(sender), others)
	for _, id := range rest[:a.rand.Between(1, int64(len(ids)/2))] {
		a.fault(fault.Fault{Kind: fault.Crash, Node: id, For: a.ms(1, 50)})
		a.split(a.ms(200, 600), timed.SetOf(sender), others)
		meeting.Add(id)
	}
	a.split(a.ms(300, 900), meeting, a.all.Minus(meeting))
}

// meetStrangers has a node meet the others, each alone and each in another incarnation. Then
// the others meet without it, and then all.
func (a *apart) meetStrangers() {
	ids := a.shuffled(a.all)
	sender := ids[0]
	for i, id := range ids[1:] {
		if i > 0 {
			a.fault(fault.Fault{Kind: fault.Suspend, Node: sender, For: a.ms(1, 20)})
		}
		blocks := []timed.Set{timed.SetOf(sender, id)}
		for other := range a.all.Minus(blocks[0]).All() {
			blocks = append(blocks, timed.SetOf(other))
		}
		a.split(a.ms(350, 450), blocks...)
	}
	a.deaf(sender)
	a.split(a.ms(700, 1000), timed.SetOf(sender), a.all.Without(sender))
}
