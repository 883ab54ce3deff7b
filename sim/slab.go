package sim

import (
	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/timed"
)

// slab is memory of a machine for own messages.
type slab struct {
	broadcast.Slab
	mem []byte // up to its length there are messages
}

// handOver gives a message to the broadcast in one of the library's two ways: every other
// node writes it to a slab, and the stacks of the others copy it.
func (n *Node) handOver(now timed.Instant, payload []byte, opt broadcast.Options) (broadcast.ID, error) {
	if n.proc.Index%2 == 1 || len(payload) > broadcast.SlabBytes {
		return n.proc.Stack.Broadcast(now, payload, opt)
	}
	b := &n.slabs[opt.Order.Class()]
	at := len(b.mem)
	if at+len(payload) > cap(b.mem) {
		if b.mem != nil {
			n.proc.Stack.CloseSlab(b.Slab)
		}
		b.Slab, b.mem = n.proc.Stack.TakeSlab()
		at = 0
	}
	mem := append(b.mem, payload...)
	id, err := n.proc.Stack.BroadcastSlab(now, b.Slab, at, len(payload), opt)
	if err == nil {
		b.mem = mem
	}
	return id, err
}
