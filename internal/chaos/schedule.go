package chaos

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// Kind is a kind of fault.
type Kind string

// Kinds of faults.
const (
	Cut     Kind = "cut"      // no packet passes between Nodes and Peers
	OneWay  Kind = "one-way"  // no packet passes from Nodes to Peers
	Loss    Kind = "loss"     // Percent of the packets between Nodes and Peers are lost
	Forbid  Kind = "forbid"   // the kernel of Nodes refuses to send to Peers: EPERM
	Bend    Kind = "bend"     // the switch delays, reorders, repeats, replays and damages
	Stop    Kind = "stop"     // SIGSTOP, and SIGCONT at the end
	Storm   Kind = "storm"    // many short stops, one after the other
	Kill    Kind = "kill"     // SIGKILL, and a start at the end
	KillAll Kind = "kill-all" // of all nodes
	Starve  Kind = "starve"   // other programs compute on all processors
	Full    Kind = "full"     // the disks of Nodes are full
	Freeze  Kind = "freeze"   // the disks of Nodes do nothing
	Doom    Kind = "doom"     // Freeze of all others' disks, KillAll, and then Wipe of Nodes
	Wipe    Kind = "wipe"     // Kill, and the disk is empty at the start
	Tear    Kind = "tear"     // Kill, and a file of the registers is missing at the start
	Rewind  Kind = "rewind"   // Kill, and the registers are those of the beginning of the fault at the start
	Halve   Kind = "halve"    // Kill, and a file of the state directory is missing at the start
	Rotate  Kind = "rotate"   // another key, in three steps at all nodes
	Epoch   Kind = "epoch"    // the quorums of the registers become the majorities of Nodes
)

// mainKinds are the kinds of the main faults: every episode has one of them, in turn.
var mainKinds = []Kind{Cut, OneWay, Loss, Forbid, Bend, Stop, Storm, Kill, KillAll, Starve, Full, Freeze, Doom, Wipe, Tear, Rewind, Halve, Rotate, Epoch}

// extraKinds are the kinds of the other faults of an episode.
var extraKinds = []Kind{Cut, OneWay, Loss, Bend, Bend, Stop, Storm, Kill, Forbid, Epoch}

// Fault is one fault of an episode.
type Fault struct {
	Kind    Kind
	At, For time.Duration // from the beginning of the episode
	Nodes   []int         `json:",omitempty"`
	Peers   []int         `json:",omitempty"`
	Percent int           `json:",omitempty"`
}

func (f Fault) String() string {
	text := fmt.Sprintf("%v+%v %s", f.At, f.For, f.Kind)
	if len(f.Nodes) > 0 {
		text += fmt.Sprint(" ", f.Nodes)
	}
	if len(f.Peers) > 0 {
		text += fmt.Sprint(" and ", f.Peers)
	}
	if f.Percent > 0 {
		text += fmt.Sprintf(" %d %%", f.Percent)
	}
	return text
}

// Episode is a set of faults that may overlap. The group heals after each episode.
type Episode struct {
	Number int
	Faults []Fault
}

func (e Episode) String() string {
	texts := make([]string, len(e.Faults))
	for i, f := range e.Faults {
		texts[i] = f.String()
	}
	return fmt.Sprintf("episode %d: %s", e.Number, strings.Join(texts, "; "))
}

// Schedule has the faults of a run, which follow from the fields. The schedule of a longer run
// begins with that of a shorter one.
type Schedule struct {
	Seed  uint64
	Nodes int
	Kinds []Kind // the only kinds of faults; empty means all
}

// only returns the kinds of a list that the schedule may have.
func (s Schedule) only(kinds []Kind) []Kind {
	if len(s.Kinds) == 0 {
		return kinds
	}
	return slices.DeleteFunc(slices.Clone(kinds), func(k Kind) bool { return !slices.Contains(s.Kinds, k) })
}

// checkKinds returns an error that names the first unknown kind.
func checkKinds(kinds []Kind) error {
	for _, k := range kinds {
		if !slices.Contains(mainKinds, k) {
			return fmt.Errorf("--kinds: there is no kind %q of faults, only %v", k, mainKinds)
		}
	}
	return nil
}

// Of every sparing rounds through the kinds, killing rounds kill all nodes. In the others the
// last node is never killed, nor is its disk touched, so that it runs for long and shows
// whether its use of resources grows.
const (
	sparing = 32
	killing = 4
)

// Episode returns an episode of the schedule, counted from 0.
func (s Schedule) Episode(number int) Episode {
	// All rounds through the kinds have orders of their own.
	mains, extras := s.only(mainKinds), s.only(extraKinds)
	round, place := number/len(mains), number%len(mains)
	order := rand.New(rand.NewPCG(s.Seed, uint64(round))).Perm(len(mains))
	d := draw{rand.New(rand.NewPCG(s.Seed, 1<<32+uint64(number))), s.Nodes}
	main := d.fault(mains[order[place]])
	switch spare := round%sparing >= killing; {
	case spare && main.Kind == KillAll:
		main.Kind, main.Nodes = Kill, d.mortal(d.nodes)
	case spare && main.Kind == Doom:
		main.Kind = Freeze
	}
	e := Episode{Number: number, Faults: []Fault{main}}
	if main.Kind == Rewind {
		return e // only nodes that have been in touch with it ever since know how far its disk was
	}
	for range d.rnd.IntN(4) * min(1, len(extras)) {
		e.Faults = append(e.Faults, d.fault(extras[d.rnd.IntN(len(extras))]))
	}
	return e
}

// draw draws the faults of an episode.
type draw struct {
	rnd   *rand.Rand
	nodes int
}

// between returns a duration of whole milliseconds.
func (d draw) between(least, most time.Duration) time.Duration {
	ms := int64(time.Millisecond)
	return time.Duration((int64(least)/ms + d.rnd.Int64N(int64(most-least)/ms)) * ms)
}

// order returns the first nodes in random order.
func (d draw) order(nodes int) []int {
	order := d.rnd.Perm(nodes)
	for i := range order {
		order[i]++
	}
	return order
}

// some returns one to most of the nodes, and the others.
func (d draw) some(most int) (some, others []int) {
	order := d.order(d.nodes)
	n := 1 + d.rnd.IntN(most)
	return order[:n], order[n:]
}

// mortal returns at most most of the nodes, without the last one.
func (d draw) mortal(most int) []int { return d.order(d.nodes - 1)[:min(most, d.nodes-1)] }

// leastVoters is the smallest number of nodes of a quorum system, in which a quorum is left
// when one node has lost its disk.
const leastVoters = 3

// voters returns the nodes of a quorum system.
func (d draw) voters() []int {
	some := d.order(d.nodes)[:leastVoters+d.rnd.IntN(d.nodes-leastVoters+1)]
	slices.Sort(some)
	return some
}

// fault draws a fault of a kind.
func (d draw) fault(k Kind) Fault {
	f := Fault{Kind: k, At: d.between(0, 2*time.Second), For: d.between(200*time.Millisecond, 4*time.Second)}
	switch k {
	case Cut, OneWay, Forbid:
		f.Nodes, f.Peers = d.some(d.nodes - 1)
	case Loss:
		f.Nodes, f.Peers = d.some(d.nodes - 1)
		f.Percent = 5 + d.rnd.IntN(60)
	case Bend:
		f.Nodes, f.Peers = d.some(d.nodes - 1)
		f.Percent = 1 + d.rnd.IntN(20)
	case Stop:
		f.Nodes, _ = d.some(d.nodes)
		f.For = d.between(20*time.Millisecond, 2500*time.Millisecond)
	case Storm:
		f.Nodes, _ = d.some(d.nodes)
	case Kill:
		f.Nodes = d.mortal(1 + d.rnd.IntN(d.nodes-1))
	case Freeze:
		f.Nodes, _ = d.some(d.nodes)
		f.For = d.between(20*time.Millisecond, 2500*time.Millisecond)
	case Doom:
		f.Nodes = d.mortal(1)
		f.For = d.between(20*time.Millisecond, 500*time.Millisecond)
	case Full, Wipe, Tear, Rewind, Halve: // acknowledged operations last on the other disks
		f.Nodes = d.mortal(1)
	case Epoch:
		f.Nodes = d.voters()
	case Starve:
		f.For = d.between(200*time.Millisecond, 1500*time.Millisecond)
	}
	return f
}
