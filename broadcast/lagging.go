package broadcast

import "github.com/failaware/failaware/timed"

// WaitKind tells apart what the order of a view waits for.
type WaitKind uint8

const (
	// WaitAck is for Member to acknowledge the last decision.
	WaitAck WaitKind = iota
	// WaitOrder is for Member, the decider, to order messages of this node.
	WaitOrder
	// WaitMessages is for messages of Member, which it is known to have sent, to come here.
	WaitMessages
)

// Wait is one thing that the order of a view waits for.
type Wait struct {
	Member timed.NodeID
	Kind   WaitKind
	Class  Class
	// At is how far that is. If it stays the same, what Member lacks does not come to it, or what
	// this node lacks does not come here: it is lost on the way again and again, as large packets
	// are where a path has a small MTU. Or the application or disk of a member is slow.
	At uint64
}

// Waits appends what the order waits for: members that have not acknowledged the last decision,
// this node among them; the decider while messages of this node are not ordered; and members
// whose messages this node lacks. There is nothing while the view changes.
func (s *Service) Waits(out []Wait) []Wait {
	if s == nil || s.view == nil || s.frozen() {
		return out
	}
	for i := range s.members {
		if m := &s.members[i]; m.ack < s.known {
			out = append(out, Wait{Member: m.Node, Kind: WaitAck, At: m.ack})
		}
	}
	for c := range classes {
		if s.decider != s.me && s.members[s.me].stream(c).ordered < s.sent[c] {
			out = append(out, Wait{Member: s.members[s.decider].Node, Kind: WaitOrder, Class: c, At: s.known})
		}
		for i := range s.members {
			if at := s.members[i].stream(c).contig; i != s.me && at < s.wanted(i, c) {
				out = append(out, Wait{Member: s.members[i].Node, Kind: WaitMessages, Class: c, At: at})
			}
		}
	}
	return out
}
