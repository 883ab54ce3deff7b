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

// Frames is a set of frames.
type Frames uint32

// The frames, in the order of their types on the wire.
const (
	FrameInUse     Frames = 1 << iota // InUse: another incarnation uses the destination's id
	FrameRelease                      // Release: votes for requests up to this one are free
	FrameResign                       // Resign: the view that the sender, its leader, gives up
	FrameDropped                      // Dropped: the resigned view that the sender no longer counts on
	FrameRequest                      // Request and Part
	FrameLine                         // Line
	FrameReply                        // Reply and Report
	FrameLeaving                      // Forget: the sender leaves
	FrameUTC                          // UTC; goes with FrameLine, or with FrameReply unless the reply is collated
	FrameSamples                      // Samples; goes with FrameReply unless the reply is collated
	FrameQuorum                       // Quorum: what the sender's votes count for
	FrameStamp                        // Stamp of the vote in Reply
	FrameQuestion                     // Question: does the destination lead?
	FrameAnswer                       // Answer
	FrameSuccessor                    // Successor: the node in whose favour votes are free: those of Release or, without it, those behind the view of Resign
	FrameTree                         // Request.Tree
	FrameCollated                     // Collated
	FrameEpoch                        // Epoch
	FrameMembers                      // Members that the sender hears
	FrameLabels                       // Labels of the sender
	FrameUsed                         // Used; goes with FrameInUse
	FrameBroadcast                    // Broadcast
	frameEnd
)

// AllFrames is the set of all frames.
const AllFrames = frameEnd - 1

// Packet is everything that one turn of a node's loop says to one destination. A
// field that belongs to a frame counts only if Frames has that frame.
type Packet struct {
	Header datagram.Header

	// The hello, which every packet carries: settings that must be the same at all
	// nodes, the sender's KeepalivePeriod, which is 0 before WithPeriod, and its state.
	MaxDrift        timed.Drift
	FastThreshold   time.Duration
	KeepalivePeriod time.Duration
	State           leader.State

	Frames Frames
	InUse  timed.BootID
	// InUseAge is how long before the packet's stamp the sender received a fast packet of
	// InUse, or [datagram.Unknown] in packets of earlier versions than WithHeard.
	InUseAge time.Duration
	Release  timed.Instant
	Resign   membership.ViewID
	Dropped  membership.ViewID
	Request  leader.Request
	Part     membership.Part
	Line     clocksync.Line
	Reply    leader.Reply
	Report   membership.Report
	// Broadcast is shared by the packets of a turn and lives as long as they do.
	Broadcast *broadcast.Packet
	UTC       clocksync.UTC
	Samples   clocksync.Forwarded

	Quorum    leader.QuorumID
	Stamp     leader.VoteStamp
	Question  leader.Question
	Answer    leader.Answer
	Successor timed.NodeID
	// Collated lives until the next turn of the node that wrote it, or until the
	// Decoder reads its next packet.
	Collated *Collated
	// Epoch is immutable and may be kept.
	Epoch *epoch.State
	// Members lives as long as Collated.
	Members []Member
	// Labels are immutable and may be kept.
	Labels *Labels
	// Used has the ids of the nodes that the sender hears, and its own.
	Used timed.Set
	// Forget says that the sender, which leaves, will not come back.
	Forget bool

	// Settings, if not nil, are the only content of the packet besides its header.
	Settings *Settings
}

// Has reports whether the packet carries any of the given frames.
func (p *Packet) Has(f Frames) bool { return p.Frames&f != 0 }

// Bare returns a packet that has the header and the hello of p, and no frames.
func (p *Packet) Bare() Packet {
	return Packet{Header: p.Header, MaxDrift: p.MaxDrift, FastThreshold: p.FastThreshold, KeepalivePeriod: p.KeepalivePeriod, State: p.State}
}

// SameModel reports whether the sender of a packet has this node's constants of the model.
// Bounds that were derived from others mean nothing here.
func (p *Packet) SameModel(t *timed.Timing) bool {
	return p.MaxDrift == t.MaxDrift && p.FastThreshold == t.FastThreshold
}
