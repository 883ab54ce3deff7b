package epoch

import (
	"fmt"

	"github.com/failaware/failaware/timed"
)

// Force makes a quorum system the successor without a leader. It is for groups that
// have permanently lost so many members that they cannot elect one. The administrator
// declares which members are dead. The epoch ends when all others have wedged.
//
// Safety rests on the administrator's declaration, which nothing can check:
//
//   - Nodes declared dead must be off, and their state directories removed. If one is
//     alive but cut off, or restarts with its old state, it may lead by the old quorum
//     system while another node leads by the new one.
//   - If the old epoch had already chosen a successor and no survivor knows that it is
//     chosen, both successors may rule at the same time. Force overrides a proposal
//     that a survivor has merely noted.
//   - The last edicts of the dead compare as earlier than edicts of the survivors,
//     even if they are later.
//
// Force may be used at one survivor only. If another member dies before the epoch ends,
// the administrator uses Force again, for the same successor. The error matches
// [ErrUnderWay] or [ErrSystem]; then there are no effects.
func (m *Machine) Force(now timed.Instant, next string, dead timed.Set, out []Effect) ([]Effect, error) {
	if err := m.checkNext(next); err != nil {
		return out, err
	}
	if m.state.Phase >= Chosen && m.state.Next != next {
		return out, fmt.Errorf("%w: to %s", ErrUnderWay, m.state.Next)
	}
	members := m.system.Members()
	system, _ := m.parse(next)
	switch survivors := members.Minus(dead); {
	case dead.Empty():
		return out, fmt.Errorf("%w: no member is declared dead", ErrSystem)
	case !dead.Subset(members):
		return out, fmt.Errorf("%w: nodes %v are declared dead but are not members", ErrSystem, dead.Minus(members))
	case !survivors.Has(m.cfg.Self.Node):
		return out, fmt.Errorf("%w: this node is not a survivor", ErrSystem)
	case !system.IsQuorum(system.Members().Minus(dead)):
		return out, fmt.Errorf("%w: without the dead members it has no quorum", ErrSystem)
	}
	out = m.learn(now, m.cfg.Self.Node, &State{Next: next, Dead: dead}, out)
	return m.enterNext(now, out), nil
}
