package epoch

import (
	"fmt"

	"github.com/failaware/failaware/timed"
)

// Force makes a quorum system the successor without a leader, when so many
// members are lost for good that none can be elected. The administrator declares
// which members are dead; the epoch ends when all others have wedged.
//
// Nothing can check what the administrator says, and everything rests on it. If a
// node that was declared dead is alive and cut off, or is ever started again with
// its old state, it may lead by the old quorum system while another leads by the
// new one; so it must be off, and its state directory be gone. If the old epoch had
// already chosen a successor and no survivor knows it to be chosen, that one may rule
// at the same time: what a survivor has merely noted gives way. And edicts that the dead created last may be later than what the
// survivors know, although they compare as earlier ones.
//
// It may be asked for at one survivor only. A further member that dies before the
// epoch ends is declared dead by asking again, for the same successor. The error
// matches [ErrUnderWay] or [ErrSystem].
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
		return out, fmt.Errorf("%w: nobody is declared dead", ErrSystem)
	case !dead.Subset(members):
		return out, fmt.Errorf("%w: %v are declared dead, but are no members", ErrSystem, dead.Minus(members))
	case !survivors.Has(m.cfg.Self.Node):
		return out, fmt.Errorf("%w: this node is no survivor", ErrSystem)
	case !system.IsQuorum(system.Members().Minus(dead)):
		return out, fmt.Errorf("%w: without the dead it has no quorum", ErrSystem)
	}
	s := State{Epoch: m.state.Epoch, System: m.state.System, Phase: Chosen, Next: next, Dead: dead}
	out = m.learn(now, m.cfg.Self.Node, &s, out)
	return m.enterNext(now, out), nil
}
