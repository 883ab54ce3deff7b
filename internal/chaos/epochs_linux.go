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

// The indices of the groups in [member.Status].
const (
	registers = iota
	messages
)

// propose asks the global leader of a group to begin an epoch of the majorities of voters. It
// returns the obstacle, or "" if that epoch has begun at the leader.
func (r *runner) propose(group int, voters []int) (missing string) {
	missing = "no node leads globally"
	for _, n := range r.nodes[1:] {
		p := n.process.Load()
		if s := p.lastStatus(); s == nil || s.Global[group] != n.number {
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

// proposeEvery is the time between two proposals of a change that was refused.
const proposeEvery = 50 * time.Millisecond

// replace proposes a change of the registers' quorums until it succeeds or the fault ends.
// Other faults may prevent it: the change is repeated at the end of the episode.
func (r *runner) replace(f *Fault) {
	for until := time.Now().Add(f.For); time.Now().Before(until); time.Sleep(proposeEvery) {
		if r.propose(registers, f.Nodes) == "" {
			r.replaced.Add(1)
			return
		}
	}
}

// change makes the majorities of some nodes the quorums of each group, and waits until all
// running nodes are in one epoch of each.
func (r *runner) change(ctx context.Context, ofRegisters, ofMessages []int) {
	for group, voters := range [][]int{ofRegisters, ofMessages} {
		missing := r.await(ctx, func() string {
			if missing := r.propose(group, voters); missing != "" {
				return missing
			}
			return r.epochDisagreement(group)
		})
		if missing != "" {
			r.violated("a quorum begins another epoch", "group %s, majorities of %v: %s", member.Groups[group], voters, missing)
		}
	}
}

// epochDisagreement names two running nodes in different epochs, or returns "".
func (r *runner) epochDisagreement(group int) string {
	var first *node
	for _, n := range r.nodes[1:] {
		s := n.process.Load().lastStatus()
		switch {
		case n.lost:
			continue
		case s == nil:
			return fmt.Sprintf("node %d says nothing: %s", n.number, n.process.Load().failure())
		case first == nil:
			first = n
		}
		if o := first.process.Load().lastStatus(); o == nil || s.Epochs[group] != o.Epochs[group] {
			return fmt.Sprintf("nodes %d and %d are in two epochs", first.number, n.number)
		}
	}
	return ""
}
