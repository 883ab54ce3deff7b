package replica

import (
	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// kind is the kind of a message, and its first byte.
type kind uint8

const (
	kindOp         kind = iota + 1
	kindReport          // in the order: the state with which a member begins a view
	kindReady           // in the order: a member has all inputs of the merge
	kindAsk             // in the order: a joiner wants the state at this position
	kindRefuse          // in the order: a member cannot make a snapshot
	kindRetry           // in the order: a member that could not make a snapshot may be able to now
	kindHolds           // in the order: a member has received the state that it waited for
	kindBootstrap       // in the order: the view may continue without members that remember
	kindBarrier         // in the order: its sender has applied all earlier operations
	kindChunk           // a piece of a snapshot
	kindGot             // acknowledges a part of a snapshot
	kindHash            // a hash of the state
	kindBeside          // a message of the application that is not an operation, in any order
	kindStored          // a member has the state at a position on its disk
	kindBlocks          // the names of blocks that a member has from an earlier transfer
	kindSame            // the names of blocks that replace a piece of a snapshot
	kindSettings        // in the order: the settings of a member that must be the same at all
	kindEpoch           // in the order: the epochs of a member and of its state
	kindDisks           // in the order: how far a member has the state, and how far disks were, as it has heard
	kindGeneration      // in the order: a member promises generations, and those of what it has heard of disks
	kindPromised        // in the order: the disk of a member has promised the generation of the view
)

// A marker takes effect at its position in the order, at all members that deliver it.
// Markers may be Weak: members that move together have delivered the same markers, and
// members that do not move together have different states anyway. A strict one is
// delivered by all members, with everything before it, before they leave the view.
var (
	marker    = broadcast.Options{Order: broadcast.TotalOrder, Atomicity: broadcast.WeakAtomicity}
	strict    = broadcast.Options{Order: broadcast.TotalOrder, Atomicity: broadcast.StrictAtomicity}
	unordered = broadcast.Options{Order: broadcast.Unordered, Atomicity: broadcast.WeakAtomicity}
)

// Standing is how much of the replicated state a member has.
type Standing uint8

const (
	// Blank: the state in which every application begins.
	Blank Standing = iota
	// Holder: a state of its own.
	Holder
	// Tentative: the initial state, and deliveries of views that ended before all
	// members had reported.
	Tentative
	// Pending: no state yet, and deliveries to apply to an awaited state.
	Pending
)

// copyOf is the copy of a snapshot at a member, with the number of bytes that it has.
type copyOf struct {
	name   Name
	digest Digest
	got    uint64
}

// report describes the state with which a member begins a view.
type report struct {
	view      membership.ViewID
	standing  Standing
	remembers bool
	promised  uint64
	lineage   Lineage // of the state that it has, without the era, which kindEpoch has
	awaits    Label   // Pending: of the state that it waits for, if known
	load      uint64
	mates     timed.Set // Tentative: the members that have moved with it since its first delivery
	base      Name      // Pending: the state that its deliveries continue, if any
	held      []copyOf  // whole
	parts     []copyOf
}

// message is any message of this package.
type message struct {
	kind       kind
	body       []byte // kindOp, kindBeside: the payload; kindChunk: the piece, unless it is Effect.Piece
	report     report
	view       membership.ViewID
	name       Name
	digest     Digest
	offset     uint64 // of the piece; kindGot: bytes received
	rewind     bool   // kindGot: the sender must continue at offset, as it always must at 0
	size       uint64 // of the whole
	at         Point
	sum        uint64
	generation uint64   // kindBootstrap: 0 from earlier builds
	own        settings // of the sender
	epochs     epochs   // of the sender

	confirmed []confirmed // kindDisks: how far the disks of members were; kindGeneration: in which generations
}
