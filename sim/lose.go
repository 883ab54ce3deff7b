package sim

import (
	"slices"

	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/sim/fault"
)

// pendingLoss is a fault of kind Lose that waits for its packet.
type pendingLoss struct {
	fault.Fault
	until int64
}

// lostPrefix is the prefix of the names of situations in which a packet was lost.
const lostPrefix = "lost: "

// Lost returns the names of the situations that faults of kind [fault.Lose] have lost packets
// with these contents.
func Lost(contents ...fault.Content) (names []string) {
	for _, c := range contents {
		names = append(names, lostPrefix+string(c))
	}
	return names
}

// losesByFault reports whether a fault of kind Lose loses a packet to a node.
func (w *World) losesByFault(n *Node, to int, p *wire.Packet) (lost bool) {
	r := w.nodes[to]
	w.pendingLosses = slices.DeleteFunc(w.pendingLosses, func(l pendingLoss) bool {
		switch {
		case w.now > l.until:
			return true
		case lost || l.Node != 0 && (l.Node != n.proc.ID || l.Peer != r.proc.ID) || !hasContent(p, l.What):
			return false
		case l.Size > 0:
			l.Size--
			return false
		}
		lost = true
		w.Sometimes(lostPrefix + string(l.What))
		w.check.NoteLoss(p)
		return true
	})
	return lost
}

// hasContent reports whether a packet has the content.
func hasContent(p *wire.Packet, what fault.Content) bool {
	if p.Has(wire.FrameBroadcast) {
		if said, ok := hasBroadcastContent(p, what); ok {
			return said
		}
	}
	switch what {
	case fault.Keepalive:
		return p.Frames&^wire.FrameBroadcast == 0 && (!p.Has(wire.FrameBroadcast) || p.Broadcast.Bare())
	case fault.Request:
		return p.Has(wire.FrameRequest)
	case fault.Proposal:
		return p.Has(wire.FrameRequest) && p.Part.Kind == membership.Propose
	case fault.Committed:
		return p.Has(wire.FrameRequest) && p.Part.Kind == membership.Commit
	case fault.Renewal:
		return p.Has(wire.FrameRequest) && p.Part.Kind == membership.Renew
	case fault.Vote:
		return p.Has(wire.FrameReply) && p.Reply.Support
	case fault.Refusal:
		return p.Has(wire.FrameReply) && !p.Reply.Support
	}
	return p.Has(frameOf[what])
}

// frameOf has the frames that stand for contents.
var frameOf = map[fault.Content]wire.Frames{fault.Collated: wire.FrameCollated, fault.Release: wire.FrameRelease,
	fault.Resigned: wire.FrameResign, fault.Dropped: wire.FrameDropped, fault.Question: wire.FrameQuestion,
	fault.Answer: wire.FrameAnswer}

// hasBroadcastContent is hasContent for the contents of the broadcast. ok is false for other
// contents.
func hasBroadcastContent(packet *wire.Packet, what fault.Content) (said, ok bool) {
	switch p := packet.Broadcast; what {
	case fault.Messages:
		return len(p.Runs) > 0, true
	case fault.Decision:
		return len(p.Decisions) > 0, true
	case fault.Want:
		return len(p.Wants) > 0 || p.Log.From > 0, true
	case fault.Ack:
		return packet.Frames == wire.FrameBroadcast && p.Bare(), true
	case fault.Report:
		return p.Report != nil, true
	case fault.Plan:
		return p.Plan != nil, true
	case fault.Terms:
		return p.Commit != nil, true
	case fault.Flushed:
		return !p.Done.None(), true
	}
	return false, false
}
