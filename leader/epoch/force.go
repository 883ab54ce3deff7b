package epoch

import (
	"fmt"

	"github.com/failaware/failaware/timed"
)

// Force makes a quorum system the successor without a leader. It is for groups that
// have lost so many members for good that they cannot elect one. The administrator
// declares which members are dead. The epoch ends when all others have wedged.
//
// Nothing can check what the administrator says, and everything rests on it:
//
//   - A node that was declared dead may lead by the old quorum system, while another
//     leads by the new one, if it is alive and cut off, or is ever started again with
//     its old state. So it must be off, and its state directory must be removed.
//   - If the old epoch had already chosen a successor and no survivor knows that it is
//     chosen, both successors may rule at the same time. A proposal that a survivor has
//     merely noted gives way.
//   - Edicts that the dead created last may be later than those that the survivors
//     know, although they compare as earlier.
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
		return out, fmt.Errorf("%w: %v are declared dead but are not members", ErrSystem, dead.Minus(members))
	case !survivors.Has(m.cfg.Self.Node):
		return out, fmt.Errorf("%w: this node is not a survivor", ErrSystem)
	case !system.IsQuorum(system.Members().Minus(dead)):
		return out, fmt.Errorf("%w: without the dead members it has no quorum", ErrSystem)
	}
	s := State{Epoch: m.state.Epoch, System: m.state.System, Phase: Chosen, Next: next, Dead: dead}
	out = m.learn(now, m.cfg.Self.Node, &s, out)
	return m.enterNext(now, out), nil
}
