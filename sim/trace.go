package sim

import (
	"fmt"
	"strings"

	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/sim/fault"
	"github.com/failaware/failaware/timed"
)

// tracePacket writes a line for a packet about to be handled.
func (w *World) tracePacket(n *Node, f *flight) {
	p := &f.packet
	w.trace(n, "packet from %d #%d, %.3f ms on its way: %s", p.Header.Source, p.Header.Counter,
		float64(w.now-f.sent)/1e6, w.describe(f))
}

// describe describes a packet and its application message.
func (w *World) describe(f *flight) string {
	if f.payload == nil {
		return describePacket(&f.packet)
	}
	message := fmt.Sprintf("message of %d bytes", len(f.payload))
	if w.app.Says != nil {
		message = w.app.Says(f.payload)
	}
	switch {
	case f.packet.Frames == 0:
		return message
	case message == "":
		return describePacket(&f.packet)
	}
	return describePacket(&f.packet) + ", " + message
}

func describePacket(p *wire.Packet) string {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if p.Has(wire.FrameInUse) {
		add("in use by %v, heard %v ago", p.InUse, p.InUseAge)
	}
	if p.Has(wire.FrameRelease) {
		add("release ≤ %d", p.Release)
	}
	if p.Has(wire.FrameResign) {
		add("resign %s", p.Resign.Short())
	}
	if p.Has(wire.FrameDropped) {
		add("dropped %s", p.Dropped.Short())
	}
	if p.Has(wire.FrameRequest) {
		add("request %d%s", p.Request.Number, describePart(&p.Part))
	}
	if p.Has(wire.FrameReply) {
		word := "refusal"
		if p.Reply.Support {
			word = "vote"
		}
		add("%s for %d (locked to %v, prefers %v, acknowledged %s)", word, p.Reply.Number,
			p.Reply.LockedTo.Node, p.Reply.Prefers, p.Report.Acknowledged.Short())
	}
	if p.Has(wire.FrameLeaving) {
		add("leaving")
	}
	if p.Has(wire.FrameTree) {
		add("tree of %d over %v", p.Request.Tree.Fanout, p.Request.Tree.Target)
	}
	if p.Has(wire.FrameCollated) {
		add("%s", describeCollated(p.Collated))
	}
	if p.Has(wire.FrameEpoch) {
		add("epoch %d %v %s", p.Epoch.Epoch, p.Epoch.Phase, p.Epoch.Next)
	}
	if p.Has(wire.FrameBroadcast) && !p.Broadcast.Bare() {
		add("%s", describeCast(p.Broadcast))
	}
	if len(parts) == 0 {
		return "keepalive"
	}
	return strings.Join(parts, ", ")
}

func describeCollated(c *wire.Collated) string {
	var from timed.Set
	for i := range c.Replies {
		from.Add(c.Replies[i].Voter.Node)
	}
	return fmt.Sprintf("replies of %v to %v for %d", from, c.Leader.Node, c.Number)
}

func describePart(p *membership.Part) string {
	switch p.Kind {
	case membership.Renew:
		return fmt.Sprintf(", renew %s", p.ID.Short())
	case membership.Propose:
		return fmt.Sprintf(", propose %s %v", p.ID.Short(), p.View.Set)
	case membership.Commit:
		return fmt.Sprintf(", commit %s %v", p.ID.Short(), p.View.Set)
	}
	return ""
}

// traceFault writes a line for a fault that begins or ends.
func (w *World) traceFault(what string, f *fault.Fault) {
	fmt.Fprintf(w.opt.Trace, "%12.6f  world   ! %s: %s\n", float64(w.now-origin)/1e9, what, f.Label())
}

// trace writes a line about a node.
func (w *World) trace(n *Node, format string, args ...any) {
	fmt.Fprintf(w.opt.Trace, "%12.6f  node %d  %s\n", float64(w.now-origin)/1e9, n.proc.Index+1, fmt.Sprintf(format, args...))
}
