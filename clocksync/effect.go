package clocksync

import (
	"time"

	"github.com/failaware/failaware/internal/enum"
	"github.com/failaware/failaware/timed"
)

// Kind tells effects apart.
type Kind uint8

const (
	// SendLine: send Line with the request that leaves now.
	SendLine Kind = iota + 1
	// SendUTC: send UTC with the request that leaves now.
	SendUTC
	// SendSamples: send Samples with the vote for Peer.
	SendSamples
	// TellUTC: send UTC with the answer to Peer's request for votes.
	TellUTC
	// Adopted: the node has moved to another timeline, and the displayed clock
	// slews to it.
	Adopted
	// Stepped: the node has moved to another timeline, and the displayed clock has
	// stepped by Step.
	Stepped
	// UTCChanged: State is the new knowledge of UTC.
	UTCChanged
	// Falseticker: reference Source, which Peer asks, contradicts the majority of
	// the references. The middle of its interval is off by Step.
	Falseticker
	// Truechimer: reference Source no longer contradicts them.
	Truechimer
)

func (k Kind) String() string {
	return enum.Name(k, []string{SendLine: "send line", SendUTC: "send UTC", SendSamples: "send samples", TellUTC: "tell UTC", Adopted: "adopted", Stepped: "stepped",
		UTCChanged: "UTC changed", Falseticker: "falseticker", Truechimer: "truechimer"}...)
}

// Effect is something for the caller to do, in order. The kind says which fields
// count.
type Effect struct {
	Kind     Kind
	Peer     timed.NodeID
	Line     Line
	UTC      UTC
	Samples  Forwarded
	Timeline TimelineID
	Parent   TimelineID
	Step     time.Duration
	State    UTCState
	Source   SourceID
}
