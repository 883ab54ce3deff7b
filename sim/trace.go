package sim

import (
	"fmt"
	"strings"

	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// tracePacket writes a line for a packet about to be handled.
func (w *world) tracePacket(n *node, f *flight, now timed.Instant) {
	p := &f.packet
	w.trace(n, now, "packet from %d #%d, %.3f ms on its way: %s", p.Header.Source, p.Header.Counter,
		float64(w.now-f.sent)/1e6, describe(p))
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
	if len(parts) == 0 {
		return "keepalive"
	}
	return strings.Join(parts, ", ")
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

// traceEvent writes a line for an event that a node reported.
func (w *world) traceEvent(n *node, now timed.Instant, e *stack.Event) {
	switch e.Kind {
	case stack.EventReady:
		w.trace(n, now, "* ready")
	case stack.EventPeerAlive:
		w.trace(n, now, "* hears node %d", e.Peer)
	case stack.EventPeerSilent:
		w.trace(n, now, "* no longer hears node %d, fast for the last time %v ago", e.Peer, e.Age)
	case stack.EventPeerRestarted:
		w.trace(n, now, "* node %d has restarted", e.Peer)
	case stack.EventElected:
		w.trace(n, now, "* LEADS %v", n.st.Election().Support())
	case stack.EventLeadLost:
		w.trace(n, now, "* leads no more: %v (by %v)", e.Lost, e.Peer)
	case stack.EventFollowing:
		w.trace(n, now, "* follows %v", e.Peer)
	case stack.EventViewInstalled:
		w.trace(n, now, "* VIEW %v %v, from %v", e.View.ID, e.View.Set, e.Previous)
	case stack.EventViewFresh:
		w.trace(n, now, "* view %v is up to date", e.View.ID)
	case stack.EventViewStale:
		w.trace(n, now, "* view %v is stale: %v (by %v)", e.View.ID, e.Stale, e.Peer)
	case stack.EventClockAdopted:
		w.trace(n, now, "* follows time %v", e.Timeline)
	case stack.EventClockStepped:
		w.trace(n, now, "* steps by %v to time %v", e.Step, e.Timeline)
	case stack.EventClockFault:
		w.trace(n, now, "* clock fault with node %d, bound %v", e.Peer, e.Bound)
	case stack.EventDuplicateID, stack.EventRestart, stack.EventMismatch, stack.EventUnfit, stack.EventPeerLeaving:
		w.trace(n, now, "* event %d, node %d", e.Kind, e.Peer)
	}
}
