package leader

import (
	"github.com/failaware/failaware/internal/enum"
	"github.com/failaware/failaware/timed"
)

// Kind tells effects apart.
type Kind uint8

const (
	// SendRequest: send Request to all peers.
	SendRequest Kind = iota + 1
	// SendRelease: tell all peers that votes for requests up to Number are free,
	// in favour of Peer if that is a node.
	SendRelease
	// SendReply: send Reply to Peer. The vote in it counts only after this effect.
	SendReply
	// SendAnswer: send Answer to Peer.
	SendAnswer
	// Counted: the present reply counts in the round. Handle its report on views
	// before the effects that follow.
	Counted
	// Won: the round Number was won. Lease and support set are those of the election
	// now.
	Won
	// GaveUp: the lead, if there was one, is over, for Reason. No earlier view may
	// be renewed from now on.
	GaveUp
	// Unfit: this node is not a contender, because its peers grant votes that are
	// too short for its own settings.
	Unfit
	// GlobalLost: the node no longer leads globally, for Reason.
	GlobalLost
	// OtherQuorum: Peer votes for Quorum, and this node for another quorum system.
	OtherQuorum
	// Verified: Peer has answered a question of this node. Assurance is the time
	// that the answer assures.
	Verified
)

func (k Kind) String() string {
	return enum.Name(k, []string{SendRequest: "send request", SendRelease: "send release", SendReply: "send reply", SendAnswer: "send answer",
		Counted: "counted", Won: "won", GaveUp: "gave up", Unfit: "unfit", GlobalLost: "global lost",
		OtherQuorum: "other quorum", Verified: "verified"}...)
}

// Effect is something for the caller to do, in order. The kind says which fields
// count.
type Effect struct {
	Kind      Kind
	Peer      timed.NodeID // the destination, or the node whose message or silence is the cause
	Request   Request
	Reply     Reply
	Answer    Answer
	Number    timed.Instant
	Reason    Reason
	Stamps    *QuorumStamp // of Won: of the round Number if a quorum voted in it
	Quorum    QuorumID
	Assurance Assurance
}

// add appends an effect of a kind and returns it, to be filled in place: copying a large
// struct just after it was written in parts is slow.
func add(out []Effect, k Kind) ([]Effect, *Effect) {
	out = append(out, Effect{})
	e := &out[len(out)-1]
	e.Kind = k
	return out, e
}

// Reason says why something ended.
type Reason uint8

const (
	// NoReason is the zero Reason.
	NoReason Reason = iota
	// Outranked: a candidate of higher rank asked for votes.
	Outranked
	// LeaseExpired: the lease ran out before it was renewed.
	LeaseExpired
	// RoundFailed: a candidate did not get the votes.
	RoundFailed
	// Resigned: the application asked for it, or the node leaves.
	Resigned
	// Distrusted: the incarnation has ended, as when its clock cannot be trusted.
	Distrusted
	// NoQuorum: no quorum renewed the global lease in time.
	NoQuorum
)

func (r Reason) String() string {
	switch r {
	case Outranked:
		return "outranked"
	case LeaseExpired:
		return "lease expired"
	case RoundFailed:
		return "round failed"
	case Resigned:
		return "resigned"
	case Distrusted:
		return "incarnation ended"
	case NoQuorum:
		return "no quorum"
	}
	return "none"
}

// MarshalText returns the text of [Reason.String].
func (r Reason) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads the text of [Reason.String].
func (r *Reason) UnmarshalText(text []byte) error { return enum.Unmarshal(r, text, NoQuorum) }
