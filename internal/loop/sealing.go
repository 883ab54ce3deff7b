package loop

import (
	"github.com/failaware/failaware/internal/seal"
	"github.com/failaware/failaware/internal/udp"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/timed"
)

// tail is a broadcast frame that the packets of a turn share.
type tail struct {
	frame  []byte
	summed bool // sum is the frame's checksum
	sum    uint64
	sealed bool // frame has been sealed, as shared
	shared seal.Shared
}

// checksum returns the checksum of a tail, or of none.
func (t *tail) checksum() uint64 {
	if t == nil {
		return wire.TailSum(nil)
	}
	if !t.summed {
		t.sum, t.summed = wire.TailSum(t.frame), true
	}
	return t.sum
}

// sharedFrom is the length in bytes from which a shared frame is sealed once for all
// packets. A shorter one is sealed with each packet: that takes less room.
const sharedFrom = 2048

// takeRing seals packets with the first key of a ring from now on.
func (o *outbound) takeRing(r *seal.Ring) { o.sealer = seal.NewSealer(r) }

// suiteFor returns how a packet with a tail of the given length is sealed, and the room
// that it needs for that.
func (o *outbound) suiteFor(tail int) (suite uint8, room int) {
	switch {
	case o.sealer == nil:
		return wire.SuiteNone, 0
	case tail >= sharedFrom:
		return wire.SuiteSharing, seal.SharedHead
	}
	return wire.SuiteXAES256GCM, seal.Head
}

// draw draws the salt of the packets that leave together. They have different counters.
// The salt is drawn just before they are sealed: a copy of this machine, made with its
// memory, then draws another one.
func (o *outbound) draw() {
	if o.sealer != nil {
		o.salt = o.random()
	}
}

// finish completes a packet that leaves now. t is its tail, if it has one.
func (o *outbound) finish(p *udp.Packet, t *tail, stamp timed.Instant) {
	o.counter++
	if o.sealer == nil {
		wire.Finish(p.Buf, t.checksum(), stamp, o.counter)
		return
	}
	boot := uint64(wire.FinishSealed(p.Buf, stamp, o.counter, uint32(o.sealer.KeyID())))
	if len(p.Tail) < sharedFrom {
		p.Buf = o.sealer.Seal(p.Buf, wire.HeaderSize, p.Tail, boot, o.counter, o.salt)
		p.N, p.Tail = len(p.Buf), nil
		return
	}
	if !t.sealed {
		t.shared, t.sealed = o.sealer.SealShared(t.frame, boot, o.counter, o.salt), true
		t.frame = t.shared.Sealed // its memory is used again
	}
	p.Buf = o.sealer.SealSharing(p.Buf, wire.HeaderSize, &t.shared, boot, o.counter, o.salt)
	p.N, p.Tail = len(p.Buf), t.shared.Sealed
}

// overhead returns how much longer packets without a tail become when they leave.
func (o *outbound) overhead() int {
	if o.sealer == nil {
		return 0
	}
	return seal.Overhead - seal.Head
}
