package replica

import (
	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// kind tells messages apart; it is their first byte.
type kind uint8

const (
	kindOp      kind = iota + 1
	kindReport       // in the order: what state a member begins a view with
	kindReady        // in the order: a member holds all that is to be merged
	kindAsk          // in the order: a joiner wants the state as it is here
	kindRefuse       // in the order: a member cannot make a snapshot
	kindHolds        // in the order: a member has got the state that it waited for
	kindBarrier      // in the order: its sender wants to know that it has come so far
	kindChunk        // a piece of a snapshot
	kindGot          // how much of a snapshot a receiver has
	kindHash         // a hash of the state
)

// Markers decide something at their place in the order, for all who deliver
// them. They may be Weak: members that move together have delivered the same,
// and those that do not, have different states by then.
var (
	marker = broadcast.Options{Order: broadcast.TotalOrder, Atomicity: broadcast.WeakAtomicity}
	free   = broadcast.Options{Order: broadcast.Unordered, Atomicity: broadcast.WeakAtomicity}
)

// Standing is what a member has of the replicated state.
type Standing uint8

const (
	// Blank: the state in which every application begins.
	Blank Standing = iota
	// Holder: a state of its own.
	Holder
	// Tentative: the initial state, and deliveries of views that ended before it
	// was known whether anybody has more.
	Tentative
	// Pending: no state yet, and deliveries for one that is to come.
	Pending
)

// copyOf says what a member has of a snapshot: all, or the first got bytes.
type copyOf struct {
	name   Name
	digest Digest
	got    uint64
}

// report is what a member begins a view with.
type report struct {
	view     membership.ViewID
	standing Standing
	label    Label // of its state, or of the one to come
	rank     uint64
	load     uint64
	mates    timed.Set // Tentative: who has moved with it since its first delivery
	base     Name      // Pending: what its deliveries go on from, if anything
	old      Label     // Pending: what it still has, though the group went on without
	oldRank  uint64
	held     []copyOf // whole
	parts    []copyOf
}

// message is any message of this package.
type message struct {
	kind   kind
	body   []byte // kindOp: the payload; kindChunk: the piece
	report report
	view   membership.ViewID
	name   Name
	digest Digest
	offset uint64 // of the piece; kindGot: how much is there
	size   uint64 // of the whole
	at     Point
	sum    uint64
}
