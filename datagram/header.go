package datagram

import "github.com/failaware/failaware/timed"

// Header is the clear part of every packet. A seal protects all of its fields as
// additional data.
type Header struct {
	Version     uint8         // of the wire format
	Suite       uint8         // how the body is sealed; 0: not sealed
	KeyID       uint32        // which group key seals it; 0 with suite 0
	Group       uint64        // digest of the group's name and of settings that its nodes share
	Source      timed.NodeID  // sender
	Destination timed.NodeID  // receiver
	Boot        timed.BootID  // the sender's incarnation
	Counter     uint64        // grows with every packet of the incarnation
	Stamp       timed.Instant // the sender's clock when the packet left
	Echo        Echo
	// Quiet says that the packet has no news: its receiver need not wake up for it, and
	// handles it before anything else that it does.
	Quiet bool
	// Patient, of a request, says that replies without news may be quiet, because the
	// requester looks for them soon.
	Patient bool
}

// Echo reports the packets of a destination that the sender has received.
type Echo struct {
	// Boot is the incarnation of the destination that the echo belongs to; 0 if
	// the sender has heard none.
	Boot timed.BootID
	// Sent and Received are the best helper: the destination sent it when its
	// clock showed Sent, and the sender received it when its own showed Received.
	Sent, Received timed.Instant
	// Latest is the newest stamp of the destination that the sender has seen. The
	// best helper may be old; Latest proves freshness.
	Latest timed.Instant
	// Heard is when, on the sender's clock, the sender last received a fast message
	// of the destination, or [NotHeard] if it never did or is not ready, or
	// [Distrusted]. The receiver takes Stamp − Heard as the age, which is never too
	// small.
	Heard timed.Instant
}

// hears reports whether the sender has heard the destination.
func (e *Echo) hears() bool { return e.Heard > 0 }

// NotHeard in an echo says that the sender does not hear the destination.
const NotHeard timed.Instant = -1 << 63

// Distrusted in an echo says that the sender found evidence against one of the two
// clocks. It hears the destination no more for a while, and both must forget what they
// measured before.
const Distrusted = NotHeard + 1

// MaxStamp is the largest instant that packets carry: 73 years on a hardware clock.
// Up to MaxStamp, all sums and differences in the bounds fit 64 bits.
const MaxStamp timed.Instant = 1 << 61
