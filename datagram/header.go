package datagram

import (
	"time"

	"github.com/failaware/failaware/timed"
)

// Header is the clear part of every packet. Its shape is final for version 1:
// sealing adds a tag behind the body, and protects all fields as additional
// data.
type Header struct {
	Version     uint8        // of the wire format: 1
	Suite       uint8        // how the body is sealed: 0 = unsealed, loopback only
	KeyID       uint32       // which group key seals it; 0 with suite 0
	Group       uint64       // digest of the group's name
	Source      timed.NodeID // who sent it
	Destination timed.NodeID // for whom it is
	Boot        timed.BootID // the sender's incarnation
	Counter     uint64       // grows with every packet of the incarnation
	Stamp       timed.Instant
	Echo        Echo
}

// Echo tells a destination what the sender last got from it.
type Echo struct {
	// Boot is the incarnation of the destination that the echo belongs to; 0
	// when the sender has heard none.
	Boot timed.BootID
	// Sent and Received are the best helper: sent by the destination when its
	// clock showed Sent, received by the sender when its own showed Received.
	Sent, Received timed.Instant
	// Latest is the newest stamp of the destination that the sender has seen.
	// The best helper may be old; freshness is proved by this one.
	Latest timed.Instant
	// Heard is when, on the sender's clock, the sender last got a fast message
	// of the destination; [NotHeard] when it never did, or is not ready. The
	// receiver takes Stamp − Heard as the age, so that it never counts short.
	Heard timed.Instant
}

// NotHeard in an echo says that the sender does not hear the destination.
const NotHeard timed.Instant = -1 << 63

// MaxStamp is the largest instant that packets carry: 73 years on a hardware
// clock. Up to it, no sum or difference that the bounds are made of leaves 64
// bits.
const MaxStamp timed.Instant = 1 << 61

// Delay is what the receiver of a message knows of its transmission delay.
type Delay struct {
	// Bound is a proven upper bound of the delay in real time, or [Unknown].
	Bound time.Duration
	// Fast reports Bound ≤ Δ.
	Fast bool
}

// Unknown is the bound of a message for which no helper exists yet.
const Unknown time.Duration = 1<<63 - 1

// Pair is a helper: a message sent when the sender's clock showed Sent and
// received when the receiver's showed Received.
type Pair struct{ Sent, Received timed.Instant }

// better reports whether p is a better helper than q: whether its key
// B(1−ρ) − A(1+ρ) is smaller. Keys are compared by differences of stamps,
// because stamps are large and products of them would lose the nanoseconds.
func (p Pair) better(q Pair, rho timed.Drift) bool {
	dB, dA := p.Received.Sub(q.Received), p.Sent.Sub(q.Sent)
	s := dA + dB
	if s >= 0 {
		return dB-dA < rho.Slack(s, 1)
	}
	return dB-dA < -rho.Slack(s, 1)
}

// bound returns ub(m) for a message sent at s on the peer's clock and received
// at r on ours, by helper h (sent by us, received by the peer).
func bound(h Pair, s, r timed.Instant, rho timed.Drift, minDelay time.Duration) time.Duration {
	return rho.Upper(r.Sub(h.Sent)) - lowerGap(s.Sub(h.Received), rho) - minDelay
}
