package sim

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/leader/epoch"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// tracePacket writes a line for a packet about to be handled.
func (w *World) tracePacket(n *Node, f *flight) {
	p := &f.packet
	w.trace(n, "packet from %d #%d, %.3f ms on its way: %s", p.Header.Source, p.Header.Counter,
		float64(w.now-f.sent)/1e6, w.says(f))
}

// says describes the packet, and what it carries of an application.
func (w *World) says(f *flight) string {
	if f.payload == nil {
		return describe(&f.packet)
	}
	message := fmt.Sprintf("message of %d bytes", len(f.payload))
	if w.app.Says != nil {
		message = w.app.Says(f.payload)
	}
	switch {
	case f.packet.Frames == 0:
		return message
	case message == "":
		return describe(&f.packet)
	}
	return describe(&f.packet) + ", " + message
}

func describe(p *stack.Packet) string {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if p.Has(stack.FrameInUse) {
		add("in use by %v", p.InUse)
	}
	if p.Has(stack.FrameRelease) {
		add("release ≤ %d", p.Release)
	}
	if p.Has(stack.FrameResign) {
		add("resign %v", p.Resign)
	}
	if p.Has(stack.FrameDropped) {
		add("dropped %v", p.Dropped)
	}
	if p.Has(stack.FrameRequest) {
		add("request %d%s", p.Request.Number, describePart(&p.Part))
	}
	if p.Has(stack.FrameReply) {
		word := "refusal"
		if p.Reply.Support {
			word = "vote"
		}
		add("%s for %d (locked to %v, prefers %v, acknowledged %v)", word, p.Reply.Number,
			p.Reply.LockedTo.Node, p.Reply.Prefers, p.Report.Acknowledged)
	}
	if p.Has(stack.FrameLeaving) {
		add("leaving")
	}
	if p.Has(stack.FrameTree) {
		add("tree of %d over %v", p.Request.Tree.Fanout, p.Request.Tree.Target)
	}
	if p.Has(stack.FrameCollated) {
		add("%s", describeCollated(p.Collated))
	}
	if p.Has(stack.FrameEpoch) {
		add("epoch %d %v %s", p.Epoch.Epoch, p.Epoch.Phase, p.Epoch.Next)
	}
	if p.Has(stack.FrameBroadcast) && !p.Broadcast.Bare() {
		add("%s", describeCast(p.Broadcast))
	}
	if len(parts) == 0 {
		return "keepalive"
	}
	return strings.Join(parts, ", ")
}

func describeCollated(c *stack.Collated) string {
	var from timed.Set
	for i := range c.Replies {
		from.Add(c.Replies[i].Voter.Node)
	}
	return fmt.Sprintf("replies of %v to %v for %d", from, c.Leader.Node, c.Number)
}

func describePart(p *membership.Part) string {
	switch p.Kind {
	case membership.Renew:
		return fmt.Sprintf(", renew %v", p.ID)
	case membership.Propose:
		return fmt.Sprintf(", propose %v %v", p.ID, p.View.Set)
	case membership.Commit:
		return fmt.Sprintf(", commit %v %v", p.ID, p.View.Set)
	}
	return ""
}

// traceFault writes a line for a fault that begins or ends.
func (w *World) traceFault(what string, f *Fault) {
	fmt.Fprintf(w.opt.Trace, "%12.6f  world   ! %s: %s\n", float64(w.now-origin)/1e9, what, f.Label())
}

// traceEvent writes a line for an event that a node reported.
func (w *World) traceEvent(n *Node, e *stack.Event) { w.trace(n, "* %s", eventText(n, e)) }

func eventText(n *Node, e *stack.Event) string {
	switch e.Kind {
	case stack.EventReady:
		return "ready"
	case stack.EventPeerAlive:
		return fmt.Sprintf("hears node %d", e.Peer)
	case stack.EventPeerSilent:
		return fmt.Sprintf("no longer hears node %d, fast for the last time %v ago", e.Peer, e.Age)
	case stack.EventPeerRestarted:
		return fmt.Sprintf("node %d has restarted", e.Peer)
	case stack.EventPeerLeaving:
		return fmt.Sprintf("node %d leaves", e.Peer)
	case stack.EventElected:
		return fmt.Sprintf("LEADS %v", n.st.Election().Support())
	case stack.EventLeadLost:
		return fmt.Sprintf("leads no more: %v (by %v)", e.Lost, e.Peer)
	case stack.EventFollowing:
		return fmt.Sprintf("follows %v", e.Peer)
	case stack.EventUnfit:
		return "is too slow to lead its peers"
	case stack.EventViewInstalled:
		return fmt.Sprintf("VIEW %v %v, from %v", e.View.ID, e.View.Set, e.Previous)
	case stack.EventViewFresh:
		return fmt.Sprintf("view %v is up to date", e.View.ID)
	case stack.EventViewStale:
		return fmt.Sprintf("view %v is stale: %v (by %v)", e.View.ID, e.Stale, e.Peer)
	case stack.EventClockAdopted:
		return fmt.Sprintf("follows time %v", e.Timeline)
	case stack.EventClockStepped:
		return fmt.Sprintf("steps by %v to time %v", e.Step, e.Timeline)
	case stack.EventClockFault:
		return fmt.Sprintf("clock fault with node %d, bound %v", e.Peer, e.Bound)
	case stack.EventMismatch:
		return fmt.Sprintf("node %d has other settings", e.Peer)
	case stack.EventTwins:
		return fmt.Sprintf("node %d is two processes with one boot id", e.Peer)
	case stack.EventDuplicateID:
		return "its id is in use by another process"
	case stack.EventUTCChanged:
		return fmt.Sprintf("UTC is %v", e.UTC)
	case stack.EventFalseticker:
		return fmt.Sprintf("server %d of node %v lies by %v", e.Source, e.Peer, e.Step)
	case stack.EventTruechimer:
		return fmt.Sprintf("server %d of node %v no longer lies", e.Source, e.Peer)
	case stack.EventRestart:
		return "blames its own clock"
	case stack.EventSlowConsumer:
		return "its application is slow"
	case stack.EventGlobalElected:
		return fmt.Sprintf("LEADS GLOBALLY, with the votes of %v", n.st.Election().Support())
	case stack.EventGlobalLost:
		return fmt.Sprintf("leads globally no more: %v (by %v)", e.Lost, e.Peer)
	case stack.EventVerified:
		return fmt.Sprintf("node %d answers how long it leads: %v, globally %v", e.Peer, e.Assurance.Local, e.Assurance.Global)
	case stack.EventOtherQuorum:
		return fmt.Sprintf("node %d votes in another quorum system", e.Peer)
	case stack.EventEpoch:
		return fmt.Sprintf("epoch %d: %s %s", e.Change.Epoch, epochTexts[e.Change.Kind], e.Change.System)
	case stack.EventOverrun:
		return "must leave: its application is too slow"
	}
	return fmt.Sprintf("event %d", e.Kind)
}

var epochTexts = map[epoch.EventKind]string{epoch.Proposed: "proposes", epoch.Superseded: "another is proposed:",
	epoch.Decided: "the successor is", epoch.Entered: "is entered, ruled by", epoch.DeclaredDead: "is declared dead, for",
	epoch.Conflict: "CONFLICT with", epoch.Unordered: "proposals do not compare"}

func uintText(n uint64) string { return strconv.FormatUint(n, 10) }
