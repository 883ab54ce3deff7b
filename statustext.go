package failaware

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/failaware/failaware/event"
	"github.com/failaware/failaware/internal/brief"
)

// String names the node, as in "node 1 (alpha) of group default".
func (n *Node) String() string {
	return fmt.Sprintf("node %v (%s) of group %s", n.cfg.ID, n.cfg.Name, n.cfg.Group)
}

// String returns the status in one line; programs with more room print its parts.
func (s Status) String() string {
	switch {
	case s.Stopped && s.Err != nil:
		return fmt.Sprintf("node %v (%s) has stopped: %v", s.ID, s.Name, s.Err)
	case s.Stopped:
		return fmt.Sprintf("node %v (%s) has stopped", s.ID, s.Name)
	case s.Waiting != "":
		return fmt.Sprintf("node %v (%s) waits before it begins a new incarnation: %s", s.ID, s.Name, string(s.Waiting))
	}
	return fmt.Sprintf("node %v (%s): %v; %v; %v", s.ID, s.Name, s.Leader, s.View, s.Clock)
}

// String says whether the peer is alive, and where it is.
func (p PeerStatus) String() string {
	var b strings.Builder
	if p.ID == NoNode {
		fmt.Fprintf(&b, "unknown node at %s", cmp.Or(p.Listed, p.Addr.String()))
	} else {
		fmt.Fprintf(&b, "node %v", p.ID)
		if p.Name != "" && p.Name != defaultName(p.ID) {
			fmt.Fprintf(&b, " (%s)", p.Name)
		}
	}
	switch {
	case p.Problem != "":
		fmt.Fprintf(&b, ": %s", p.Problem)
	case len(p.Mismatch) > 0:
		fmt.Fprintf(&b, ": ignored: %v", p.Mismatch)
	case p.Fault:
		b.WriteString(": its clock and this node's contradict the drift bound")
	case p.Refused != "":
		fmt.Fprintf(&b, ": its packets do not count: %s", p.Refused)
	case p.Unsent != "":
		fmt.Fprintf(&b, ": this node %s", p.Unsent)
	case p.Foreign != "":
		b.WriteString(": " + p.Foreign)
	case p.Alive && p.Delay == event.UnknownDelay:
		b.WriteString(": alive, delay unknown")
	case p.Alive:
		fmt.Fprintf(&b, ": alive, delay at most %s", brief.Duration(p.Delay))
	case p.Refuses:
		b.WriteString(": it takes another process for this node")
	case p.LastFast < 0:
		b.WriteString(": not heard in time yet")
	case p.Deaf:
		b.WriteString(": heard in time, and does not hear this node")
	default:
		fmt.Fprintf(&b, ": silent for %s", brief.Duration(p.LastFast))
	}
	return b.String()
}

// String returns the name and the value.
func (c Counter) String() string { return fmt.Sprintf("%s %d", c.Name, c.Value) }

// String says how late timers were, on average and at most.
func (l Lateness) String() string {
	return fmt.Sprintf("%s late on average, at most %s; %d of %d timers were too late",
		brief.Duration(l.Average), brief.Duration(l.Max), l.Late, l.Timers)
}

// String says how far the reference is off, as in "ntp a of node 2: 31µs ± 1.2ms".
func (r ReferenceStatus) String() string {
	name := r.Name
	if name == "" {
		name = fmt.Sprintf("%016x", uint64(r.Source))
	}
	switch {
	case !r.Known:
		return fmt.Sprintf("%s of node %v: unknown", name, r.Node)
	case r.Falseticker:
		return fmt.Sprintf("%s of node %v: %s ± %s, a falseticker", name, r.Node, brief.Duration(r.Offset), brief.Duration(r.Bound))
	}
	return fmt.Sprintf("%s of node %v: %s ± %s", name, r.Node, brief.Duration(r.Offset), brief.Duration(r.Bound))
}

// String says which quorum system is in use, and which comes next.
func (a EpochAnswer) String() string {
	switch {
	case a.System == "":
		return "no quorum system"
	case a.Next != "":
		return fmt.Sprintf("epoch %d: %s; next, %v: %s", a.Epoch, a.System, a.Phase, a.Next)
	}
	return fmt.Sprintf("epoch %d: %s", a.Epoch, a.System)
}

// String says where the message was delivered.
func (o Outcome) String() string {
	how := "delivered"
	if o.Transitional {
		how = "delivered as transitional"
	}
	return fmt.Sprintf("message %v %s in view %v", o.ID, how, someView(o.View).ID)
}
