package membership

import (
	"github.com/failaware/failaware/internal/enum"
	"github.com/failaware/failaware/timed"
)

// Kind tells effects apart.
type Kind uint8

const (
	// RequestRound: start a round, because the leader's next request changes views.
	RequestRound Kind = iota + 1
	// SendPart: send Part with the request that leaves now. Until Part.Until its
	// members rely on the votes.
	SendPart
	// SendResign: tell all peers that this node gives up the view ID.
	SendResign
	// SendDropped: tell Peer that this node has dropped the lease on the view ID.
	SendDropped
	// Installed: View was installed, after Previous.
	Installed
	// Fresh: View is up to date from now on.
	Fresh
	// Stale: View is no longer up to date, for Reason.
	Stale
	// AllDropped: all members have dropped the lease on the resigned view.
	AllDropped
)

func (k Kind) String() string {
	return enum.Name(k, []string{RequestRound: "request round", SendPart: "send part", SendResign: "send resign", SendDropped: "send dropped",
		Installed: "installed", Fresh: "fresh", Stale: "stale", AllDropped: "all dropped"}...)
}

// Effect is something for the caller to do, in order. The kind says which fields
// count.
type Effect struct {
	Kind     Kind
	Peer     timed.NodeID // the destination, or the node whose message or silence is the cause
	Part     Part
	ID       ViewID
	View     *View
	Previous ViewID
	Reason   Reason
}

// Reason says why a view became stale.
type Reason uint8

const (
	// NoReason is the zero Reason.
	NoReason Reason = iota
	// LeaseExpired: no renewal came in time.
	LeaseExpired
	// Proposed: a next view has been proposed.
	Proposed
	// LeadEnded: this node was the leader and no longer is.
	LeadEnded
	// LeaderResigned: the leader said that it gives up the view.
	LeaderResigned
	// Distrusted: the incarnation has ended, as when its clock cannot be trusted.
	Distrusted
)

func (r Reason) String() string {
	switch r {
	case LeaseExpired:
		return "lease expired"
	case Proposed:
		return "next view proposed"
	case LeadEnded:
		return "lead ended"
	case LeaderResigned:
		return "leader resigned"
	case Distrusted:
		return "incarnation ended"
	}
	return "none"
}

// MarshalText returns the text of [Reason.String].
func (r Reason) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads the text of [Reason.String].
func (r *Reason) UnmarshalText(text []byte) error { return enum.Unmarshal(r, text, Distrusted) }
