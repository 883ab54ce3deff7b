package wire

import (
	"time"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/leader/epoch"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// Frames says which frames a packet carries.
type Frames uint32

// The frames, in the order in which a receiver handles them.
const (
	FrameInUse     Frames = 1 << iota // the destination's id is in use by another incarnation
	FrameRelease                      // votes up to Release are free
	FrameResign                       // the view Resign is given up
	FrameDropped                      // the view Dropped is not counted on any more
	FrameRequest                      // Request and Part
	FrameLine                         // Line
	FrameReply                        // Reply and Report
	FrameLeaving                      // the sender leaves for good
	FrameUTC                          // UTC, with Line
	FrameSamples                      // Samples, with Reply unless that goes another way
	FrameQuorum                       // Quorum: what the sender's votes are for
	FrameStamp                        // Stamp of the vote in Reply
	FrameQuestion                     // Question: does the destination lead?
	FrameAnswer                       // Answer
	FrameSuccessor                    // Release is in favour of Successor
	FrameTree                         // the Tree of Request
	FrameCollated                     // Collated
	FrameEpoch                        // Epoch
	FrameBroadcast                    // Broadcast
	frameEnd
)

// Frame bits that exist.
const AllFrames = frameEnd - 1

// Packet is everything that one turn of a node's loop says to one destination.
type Packet struct {
	Header datagram.Header
	// Hello: settings that must be the same everywhere, and the sender's state.
	MaxDrift      timed.Drift
	FastThreshold time.Duration
	State         leader.State

	Frames  Frames
	InUse   timed.BootID
	Release timed.Instant
	Resign  membership.ViewID
	Dropped membership.ViewID
	Request leader.Request
	Part    membership.Part
	Line    clocksync.Line
	Reply   leader.Reply
	Report  membership.Report
	// Broadcast is shared by the packets of a turn, and lives as long as they do.
	Broadcast *broadcast.Packet
	UTC       clocksync.UTC
	Samples   clocksync.Forwarded

	Quorum    leader.QuorumID
	Stamp     leader.VoteStamp
	Question  leader.Question
	Answer    leader.Answer
	Successor timed.NodeID
	// Collated lives until the next turn of the node that wrote it, or until the
	// next packet is decoded.
	Collated *Collated
	// Epoch is never changed once it is written, and may be kept.
	Epoch *epoch.State
}

// Has reports whether the packet carries a frame.
func (p *Packet) Has(f Frames) bool { return p.Frames&f != 0 }
