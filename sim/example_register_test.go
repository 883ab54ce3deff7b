package sim_test

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/sim"
	"github.com/failaware/failaware/sim/fault"
	"github.com/failaware/failaware/timed"
)

// A register is one value that the members of a majority keep on their disks. The
// leader of an up-to-date view claims a ballot, learns the newest value from a
// majority, writes, and reads locally for as long as its view is up to date.
type register struct {
	node  *sim.Node
	disk  *record
	books *books // of the test
	hasty bool   // reads without asking whether the view is up to date

	view     *membership.View // for which the ballot was claimed
	answers  timed.Set        // to the claim or write under way
	claiming bool
	newest   record // among the answers to the claim
	serves   bool   // the value on the disk was acknowledged
}

// record is what a node keeps on its disk.
type record struct {
	Promised, Written ballot
	Version, Value    int
}

type ballot struct {
	Number int
	By     timed.NodeID
}

func (b ballot) before(c ballot) bool {
	return b.Number < c.Number || b.Number == c.Number && b.By < c.By
}

func (r *record) older(s *record) bool {
	return r.Written.before(s.Written) || r.Written == s.Written && r.Version < s.Version
}

// books are what the test knows: the value acknowledged last, and how many
// values there were.
type books struct{ acknowledged, values int }

type message struct {
	Kind   string // claim, state, write, ack
	Ballot ballot
	Record record
}

const members = 3

// leading returns the up-to-date view of a majority that the node leads.
func (r *register) leading() *membership.View {
	if v, upToDate := r.node.View(); upToDate && v.ID.Leader == r.node.ID() && v.Set.Len() > members/2 {
		return v
	}
	return nil
}

// read returns the value, if the node can vouch for it.
func (r *register) read() (int, bool) {
	v := r.leading()
	return r.disk.Value, r.serves && (r.hasty || v != nil && v == r.view)
}

func (r *register) say(to timed.NodeID, kind string, b ballot) {
	text, err := json.Marshal(message{kind, b, *r.disk})
	if err != nil {
		panic(err)
	}
	if to == 0 {
		r.node.SendAll(text)
	} else {
		r.node.Send(to, text)
	}
}

// tick claims, or writes the next value, or says again what got lost.
func (r *register) tick() {
	r.node.After(50*time.Millisecond, r.tick)
	switch v := r.leading(); {
	case v == nil:
	case r.serves && r.view == v:
		r.books.values++
		r.write(r.books.values)
	default:
		r.view, r.serves, r.claiming, r.newest = v, false, true, *r.disk
		r.disk.Promised = ballot{r.disk.Promised.Number + 1, r.node.ID()}
		r.answers = timed.SetOf(r.node.ID())
		r.say(0, "claim", r.disk.Promised)
	}
}

func (r *register) write(value int) {
	d := r.disk
	r.claiming, r.serves, r.answers = false, false, timed.SetOf(r.node.ID())
	d.Written, d.Version, d.Value = d.Promised, d.Version+1, value
	r.say(0, "write", d.Promised)
}

func (r *register) deliver(m sim.Message) {
	var x message
	if err := json.Unmarshal(m.Payload, &x); err != nil {
		panic(err)
	}
	d, from := r.disk, m.From.Node
	switch x.Kind {
	case "claim", "write":
		if x.Ballot.before(d.Promised) {
			r.say(from, "state", d.Promised) // the claim was too low
			return
		}
		d.Promised = x.Ballot
		if x.Kind == "claim" {
			r.say(from, "state", x.Ballot)
		} else {
			if d.older(&x.Record) {
				d.Written, d.Version, d.Value = x.Record.Written, x.Record.Version, x.Record.Value
			}
			if !x.Record.older(d) {
				r.say(from, "ack", x.Ballot)
			}
		}
	case "state":
		if d.Promised.before(x.Ballot) {
			d.Promised = x.Ballot
		} else if r.claiming && x.Ballot == d.Promised && r.leading() == r.view {
			if r.newest.older(&x.Record) {
				r.newest = x.Record
			}
			if r.answers.Add(from); r.answers.Len() > members/2 {
				d.Version = r.newest.Version
				r.write(r.newest.Value)
			}
		}
	case "ack":
		if !r.claiming && x.Ballot == d.Promised && x.Record.Version == d.Version && r.leading() != nil && r.leading() == r.view {
			if r.answers.Add(from); r.answers.Len() > members/2 {
				r.serves, r.books.acknowledged = true, d.Value
			}
		}
	}
}

// registers is the service, with what it promises.
func registers(w *sim.World, hasty bool) sim.App {
	disks := map[*sim.Node]*record{} // they outlive crashes
	running := map[*sim.Node]*register{}
	b := &books{}
	return sim.App{
		Start: func(n *sim.Node) sim.Handlers {
			if disks[n] == nil {
				disks[n] = &record{}
			}
			r := &register{node: n, disk: disks[n], books: b, hasty: hasty}
			running[n] = r
			r.tick()
			return sim.Handlers{Deliver: r.deliver, Stop: func() { delete(running, n) }}
		},
		Invariants: []sim.Invariant{{Name: "fresh reads", Check: func() error {
			for _, n := range w.Nodes() {
				if r := running[n]; r != nil {
					if value, ok := r.read(); ok && value != b.acknowledged {
						return fmt.Errorf("node %d reads %d: %d was acknowledged", n.ID(), value, b.acknowledged)
					}
				}
			}
			return nil
		}}},
	}
}

// A register whose leader reads locally: what it reads is the value acknowledged
// last, for as long as it can vouch for its view. Majorities rest on ids that
// nobody else uses, so rivals for an id are left out.
func ExampleNode_View() {
	for _, hasty := range []bool{true, false} {
		opt := sim.Options{Nodes: members, Duration: 5 * time.Second, Without: []fault.Class{fault.ClassRival},
			App: func(w *sim.World) sim.App { return registers(w, hasty) }}
		_, violation, err := sim.Campaign{Options: opt, Seeds: 300}.Run(context.Background())
		if err != nil {
			panic(err)
		}
		if violation != nil {
			fmt.Println("hasty:", hasty, "- broken:", violation.Check)
		} else {
			fmt.Println("hasty:", hasty, "- 300 seeds passed")
		}
	}
	// Output:
	// hasty: true - broken: fresh reads
	// hasty: false - 300 seeds passed
}
