package sendqueue

import (
	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/timed"
)

// classSlabs is how many slabs callers have in a class after the loop has looked:
// enough for small messages until it looks again, and the rest of one slab. Of large
// messages more goes through the bytes of a batch. As many full slabs may wait for
// the loop to hand them over.
const classSlabs = classBytes/broadcast.SlabBytes + 1

// slab is memory of the broadcast to which callers copy payloads, so that nobody
// copies them again. Messages too large for it, and those that come before the loop
// has given callers any, go through the bytes of a batch.
type slab struct {
	broadcast.Slab
	mem []byte // holds payloads up to its length
}

// slabs is where slabs come from: the broadcast.
type slabs interface {
	TakeSlab() (broadcast.Slab, []byte)
}

// machine is where messages go: the layers of the node with the broadcast.
type machine interface {
	Broadcast(now timed.Instant, payload []byte, opt broadcast.Options) (broadcast.ID, error)
	BroadcastSlab(now timed.Instant, b broadcast.Slab, off, n int, opt broadcast.Options) (broadcast.ID, error)
	CloseSlab(broadcast.Slab)
}
