package loop

import (
	"github.com/failaware/failaware/internal/seal"
	"github.com/failaware/failaware/internal/udp"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/timed"
)

// takeRing has packets sealed with the first key of a ring from now on.
func (o *outbound) takeRing(r *seal.Ring) {
	o.sealer = seal.NewSealer(r)
	o.suite, o.encoder.Room = wire.SuiteXAES256GCM, seal.Head
}

// draw draws the salt of the packets that leave together. They have different counters.
// The salt is drawn just before they are sealed: a copy of this machine, made with its
// memory, then draws another one.
func (o *outbound) draw() {
	if o.sealer != nil {
		o.salt = o.random()
	}
}

// finish completes a packet that leaves now.
func (o *outbound) finish(p *udp.Packet, stamp timed.Instant) {
	o.counter++
	if o.sealer == nil {
		wire.Finish(p.Buf, p.Tail, stamp, o.counter)
		return
	}
	boot := wire.FinishSealed(p.Buf, stamp, o.counter, uint32(o.sealer.KeyID()))
	p.Buf = o.sealer.Seal(p.Buf, wire.HeaderSize, p.Tail, uint64(boot), o.counter, o.salt)
	p.N, p.Tail = len(p.Buf), nil
}

// overhead returns how much longer packets become when they leave.
func (o *outbound) overhead() int {
	if o.sealer == nil {
		return 0
	}
	return seal.Overhead - seal.Head
}
