package bench

import (
	"encoding/binary"
	"math/rand/v2"

	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/internal/seal"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/timed"
)

// packets makes hostile packets from those that were overheard.
type packets struct {
	tap    *tap
	target timed.NodeID
	sealer *seal.Sealer // with a key that is not the group's
}

// hostileKind is a kind of hostile packets. make appends one to b.
type hostileKind struct {
	name string
	make func(p *packets, b []byte) []byte
}

var hostile = []hostileKind{
	{"random bytes", func(_ *packets, b []byte) []byte { return noise(b, rand.IntN(1400)) }},
	{"random bodies", func(p *packets, b []byte) []byte {
		return noise(append(b, p.overheard()[:wire.HeaderSize]...), 50+rand.IntN(1200))
	}},
	{"one bit wrong", func(p *packets, b []byte) []byte {
		b = append(b, p.overheard()...)
		bit := rand.IntN(8 * len(b))
		b[bit/8] ^= 1 << (bit % 8)
		return b
	}},
	{"wrong length", func(p *packets, b []byte) []byte {
		x := p.overheard()
		if rand.IntN(2) == 0 {
			return append(b, x[:rand.IntN(len(x))]...)
		}
		return noise(append(b, x...), 1+rand.IntN(500))
	}},
	{"replayed", func(p *packets, b []byte) []byte { return append(b, p.overheard()...) }},
	{"unknown incarnations", func(p *packets, b []byte) []byte {
		at := len(b)
		b = append(b, p.overheard()...)
		binary.BigEndian.PutUint64(b[at+18:], rand.Uint64()|1)
		return b
	}},
	{"quiet", func(p *packets, b []byte) []byte { // which wait until something else wakes the node
		at := len(b)
		b = noise(append(b, p.overheard()[:wire.HeaderSize]...), 50+rand.IntN(300)) // of one size, they would come as one message
		offset, bit := wire.QuietMark()
		b[at+offset] |= bit
		return b
	}},
	{"not sealed", (*packets).open},
	{"another key", (*packets).otherKey},
}

// overheard returns a packet to the target that the attacker has read.
func (p *packets) overheard() []byte { return p.tap.pick(p.target) }

func noise(b []byte, n int) []byte {
	for range n {
		b = append(b, byte(rand.Uint32()))
	}
	return b
}

// hello returns a packet of an unknown node, in the group of the target.
func (p *packets) hello() *wire.Packet {
	h, _, _ := wire.ParseHeader(p.overheard()) // the nodes have sent it
	return &wire.Packet{MaxDrift: timed.LAN().MaxDrift, FastThreshold: timed.LAN().FastThreshold,
		Header: datagram.Header{Version: wire.Version, Group: h.Group, Source: 200, Destination: p.target, Boot: randomBoot(),
			Stamp: h.Stamp, Echo: datagram.Echo{Heard: datagram.NotHeard}}}
}

func (p *packets) open(b []byte) []byte {
	var e wire.Encoder
	out, err := e.Append(b, p.hello())
	if err != nil {
		panic(err) // it is a valid packet
	}
	return out
}

func (p *packets) otherKey(b []byte) []byte {
	if p.sealer == nil {
		r, err := seal.NewRing(seal.NewKey())
		if err != nil {
			panic(err) // one key is a valid ring
		}
		p.sealer = seal.NewSealer(r)
	}
	x := p.hello()
	x.Header.Suite = wire.SuiteXAES256GCM
	e := wire.Encoder{Room: seal.Head}
	out, err := e.AppendBefore(b, x, nil)
	if err != nil {
		panic(err) // it is a valid packet
	}
	boot := wire.FinishSealed(out, x.Header.Stamp, 1, uint32(p.sealer.KeyID()))
	return p.sealer.Seal(out, wire.HeaderSize, nil, uint64(boot), 1, rand.Uint64())
}
