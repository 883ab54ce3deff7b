package broadcast

import "github.com/failaware/failaware/timed"

// Lagging returns the members that the order waits for, and the last decision: the members that
// have not acknowledged it, and the decider while messages of this node are not ordered. If it
// stays so, what they lack does not come to them: it is lost on the way again and again, as large
// packets are where a path has a small MTU, or their applications or disks are slow. There are
// none while the view changes.
func (s *Service) Lagging() (members timed.Set, decision uint64) {
	if s == nil || s.view == nil || s.frozen() {
		return timed.Set{}, 0
	}
	for i := range s.members {
		if s.members[i].ack < s.known {
			members.Add(s.members[i].Node)
		}
	}
	for c := range classes {
		if s.decider != s.me && s.members[s.me].stream(c).ordered < s.sent[c] {
			members.Add(s.members[s.decider].Node)
		}
	}
	return members, s.known
}
