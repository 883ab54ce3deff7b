package broadcast

import (
	"time"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// Header is in every packet of a member, keepalives included. It counts only in the view
// that it names.
type Header struct {
	View  membership.ViewID // the sender's view; none before its first
	Known uint64            // decisions known without a gap
	Have  uint64            // decisions whose messages are held too: the acknowledgement
	// Stable counts the decisions that more than half of the members have, and those
	// that all members have, as far as the sender knows.
	Stable [2]uint64
	// Tails holds the last sequences sent, by class, so that receivers notice a lost
	// tail.
	Tails [2]uint64
	// Floor is a promise: ordered messages after Tails have no smaller stamp.
	Floor clocksync.Time
}

// Limits of the lists in a packet. A large packet has room for more.
const (
	MostRuns      = 1024
	MostDecisions = 1024
	MostWants     = 1024
)

// Packet is the broadcast part of a packet, to one destination or to all.
type Packet struct {
	Header
	Runs      []Run // at most MostRuns, and so on
	Decisions []Decision
	Wants     []Want            // messages that the sender lacks
	Log       Span              // wanted decisions of the view; none if From is 0
	Done      membership.ViewID // the proposal for which the sender lacks nothing any more; none otherwise
	Report    *Report
	Plan      *Plan
	Commit    *Commit

	sizes []uint32 // memory of the runs' Sizes
	spans []Range  // memory of the decisions' Ranges
}

// Bare reports whether the packet consists of its header only.
func (p *Packet) Bare() bool {
	return len(p.Runs) == 0 && len(p.Decisions) == 0 && len(p.Wants) == 0 && p.Log == Span{} &&
		p.Done.None() && p.Report == nil && p.Plan == nil && p.Commit == nil
}

// Reset empties the packet and keeps its memory.
func (p *Packet) Reset() {
	*p = Packet{Runs: p.Runs[:0], Decisions: p.Decisions[:0], Wants: p.Wants[:0], sizes: p.sizes[:0], spans: p.spans[:0]}
}

// Lengths returns room for the lengths of n messages in the packet's memory.
func (p *Packet) Lengths(n int) []uint32 {
	at := len(p.sizes)
	p.sizes = append(p.sizes, make([]uint32, n)...)
	return p.sizes[at : at+n : at+n]
}

// Ranges returns room for n ranges in the packet's memory.
func (p *Packet) Ranges(n int) []Range {
	at := len(p.spans)
	p.spans = append(p.spans, make([]Range, n)...)
	return p.spans[at : at+n : at+n]
}

// Span is a range of decision numbers.
type Span struct{ From, To uint64 }

// Run is consecutive messages, or fragments, of one sender and class with one stamp and
// one choice of options.
type Run struct {
	Sender    timed.NodeID
	Boot      timed.BootID
	Class     Class
	Options   Options
	Begins    bool   // each is, or begins, a message
	Ends      bool   // each is, or ends, a message
	First     uint64 // sequence of the first
	Count     int
	Stamp     clocksync.Time
	Deviation time.Duration
	// Size is the length of each payload, unless Sizes has the length of each.
	Size    uint32
	Sizes   []uint32
	Payload []byte // all payloads, one after the other; borrowed
}

// MaxRun is the limit of messages in one run.
const MaxRun = 4096

// size returns the length of the i-th payload.
func (r *Run) size(i int) int {
	if r.Sizes != nil {
		return int(r.Sizes[i])
	}
	return int(r.Size)
}

// Valid reports whether the fields of the run fit each other.
func (r *Run) Valid() bool {
	if !r.Sender.Valid() || r.Boot == 0 || r.Class >= classes || !r.Options.Valid() || r.Options.Order.Class() != r.Class ||
		r.First == 0 || r.Count < 1 || r.Count > MaxRun || r.First > MaxSequence-uint64(r.Count) || r.Deviation < 0 {
		return false
	}
	if r.Sizes == nil {
		return uint64(r.Size)*uint64(r.Count) == uint64(len(r.Payload))
	}
	if len(r.Sizes) != r.Count || r.Size != 0 {
		return false
	}
	sum := uint64(0)
	for _, n := range r.Sizes {
		sum += uint64(n)
	}
	return sum == uint64(len(r.Payload))
}

// Decision orders the messages of its ranges, one range after the other, behind those of
// all earlier decisions, and passes on the right to decide.
type Decision struct {
	Number uint64 // from 1 in each view
	Next   uint8  // index of the member that may issue the next one
	// Urgent: some message is not Weak or is Timed, so members acknowledge the
	// decision at once.
	Urgent bool
	// Floor: no message with a smaller stamp is ordered after this decision.
	Floor clocksync.Time
	// Leeway, if not 0, makes ordered messages that wait, with stamps more than this
	// after Floor, count as stamped then.
	Leeway time.Duration
	Ranges []Range
}

// Range is the messages of one member that a decision orders: those after the last
// ordered one, through To. For Unordered messages it says only that members that have the
// decision have them.
type Range struct {
	Member uint8 // index in the view
	Class  Class
	To     uint64
	from   uint64 // its first message; known once all earlier decisions are
}

// Want asks for messages.
type Want struct {
	Sender   timed.NodeID
	Boot     timed.BootID
	Class    Class
	From, To uint64 // sequences, both included
}

// Mark is a position in the messages of one incarnation.
type Mark struct {
	Node     timed.NodeID
	Boot     timed.BootID
	Sequence uint64
}

// Report lists the messages that a member has when it acknowledges a proposal. From then
// on the member is frozen in the view that it comes from.
type Report struct {
	Piece
	Proposal  membership.ViewID
	Previous  membership.ViewID // none for a node without a view
	Have      uint64            // the last decision whose messages it has, without a gap
	Stable    [2]uint64         // as in [Header]
	Sent      [2]uint64         // the last sequences ever sent, by class
	Acks      []Mark            // of the members of Previous: decisions
	Ordered   []Mark            // ordered through, for all senders ever seen
	Unordered []Mark            // delivered or covered by decisions through
}

// marks returns the positions in the messages of a class.
func (r *Report) marks(c Class) []Mark {
	if c == ClassUnordered {
		return r.Unordered
	}
	return r.Ordered
}

// Plan says which members lack messages of their previous views, and which have them.
type Plan struct {
	Piece
	Proposal membership.ViewID
	Groups   []Group
}

// Group is the members of a proposal that come from one view.
type Group struct {
	Previous membership.ViewID
	End      uint64       // the last decision that they deliver
	Source   timed.NodeID // a member that has everything through End
	Lack     []Lack
	Fill     []Fill
}

// Lack is a member that lacks decisions after Have, or messages of them.
type Lack struct {
	Node timed.NodeID
	Have uint64
}

// Fill is Unordered messages that Member lacks and Holder has: those of Sender after From,
// through To.
type Fill struct {
	Member   timed.NodeID
	Holder   timed.NodeID
	Sender   timed.NodeID
	Boot     timed.BootID
	From, To uint64
}

// Commit is the terms of a view, which members need to install it.
type Commit struct {
	Piece
	Proposal  membership.ViewID
	Branches  []Branch
	Ordered   []Mark // base of the view, for all senders ever seen
	Unordered []Mark // the same for messages without an order
}

// Branch is the end of a previous view for those that come from it.
type Branch struct {
	Previous membership.ViewID
	End      uint64    // the last decision that they deliver
	Stable   [2]uint64 // merged, like Acks
	Acks     []Mark    // of the members of Previous
}
