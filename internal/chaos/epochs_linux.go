package chaos

import (
	"context"
	"fmt"
	"time"

	"github.com/failaware/failaware/internal/chaos/member"
)

// all returns the numbers of all nodes but one.
func (r *runner) all(but int) (list []int) {
	for number := 1; number <= r.Nodes; number++ {
		if number != but {
			list = append(list, number)
		}
	}
	return list
}

// The groups by their places in what a member sees.
const (
	registers = iota
	messages
)

// propose has the global leader of a group begin an epoch of the majorities of voters. It
// returns what is in the way, or "" if that epoch has begun there.
func (r *runner) propose(group int, voters []int) (missing string) {
	missing = "no node leads globally"
	for _, n := range r.nodes[1:] {
		p := n.process.Load()
		if s := p.sees(); s == nil || s.Global[group] != n.number {
			continue
		}
		_, err := p.ask(member.Command{Do: member.DoEpoch, Group: member.Groups[group], Voters: voters})
		if err == nil {
			return ""
		}
		missing = fmt.Sprintf("node %d: %v", n.number, err)
	}
	return missing
}

// proposeEvery is how often a change is asked for that was refused.
const proposeEvery = 50 * time.Millisecond

// replace asks for a change of the registers' quorums until it comes about or the fault ends.
// Other faults may keep the group from it: the end of the episode has it again.
func (r *runner) replace(f *Fault) {
	for until := time.Now().Add(f.For); time.Now().Before(until); time.Sleep(proposeEvery) {
		if r.propose(registers, f.Nodes) == "" {
			r.replaced.Add(1)
			return
		}
	}
}

// change has the quorums of both groups become the majorities of some nodes, and waits until
// all nodes that run are in one epoch of each.
func (r *runner) change(ctx context.Context, ofRegisters, ofMessages []int) {
	for group, voters := range [][]int{ofRegisters, ofMessages} {
		missing := r.await(ctx, func() string {
			if missing := r.propose(group, voters); missing != "" {
				return missing
			}
			return r.oneEpoch(group)
		})
		if missing != "" {
			r.harmed("a quorum begins another epoch", "group %s, majorities of %v: %s", member.Groups[group], voters, missing)
		}
	}
}

// oneEpoch says which node is in another epoch than the rest.
func (r *runner) oneEpoch(group int) string {
	var first *node
	for _, n := range r.nodes[1:] {
		s := n.process.Load().sees()
		switch {
		case n.lost:
			continue
		case s == nil:
			return fmt.Sprintf("node %d says nothing: %s", n.number, n.process.Load().why())
		case first == nil:
			first = n
		}
		if o := first.process.Load().sees(); o == nil || s.Epochs[group] != o.Epochs[group] {
			return fmt.Sprintf("nodes %d and %d are in two epochs", first.number, n.number)
		}
	}
	return ""
}
