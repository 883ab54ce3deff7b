package bench

import (
	"encoding/binary"
	"math/rand/v2"
	"time"

	"github.com/failaware/failaware/internal/udp"
	"github.com/failaware/failaware/timed"
)

// A raw packet belongs to the scatter-gather without a protocol: a question, which
// contains the length of the answer, or an answer.
//
//	0  "RW"   2  kind   3  round   11  length of the answer
const (
	rawHead     = 13
	rawQuestion = 'q'
	rawAnswer   = 'a'
)

func isRaw(b []byte) bool { return len(b) >= rawHead && b[0] == 'R' && b[1] == 'W' }

// putRaw fills a packet.
func putRaw(pkt *udp.Packet, kind byte, round uint64, size, answer int) {
	size = max(size, rawHead)
	if cap(pkt.Buf) < size {
		pkt.Buf = make([]byte, size)
	}
	b := pkt.Buf[:size]
	b[0], b[1], b[2] = 'R', 'W', kind
	binary.BigEndian.PutUint64(b[3:], round)
	binary.BigEndian.PutUint16(b[11:], uint16(answer))
	pkt.Buf, pkt.N = b, size
}

// raw handles a raw packet: it answers a question, and counts an answer.
func (b *bare) raw(p *udp.Packet) {
	buf := p.Buf[:p.N]
	round := binary.BigEndian.Uint64(buf[3:])
	switch {
	case buf[2] == rawQuestion:
		pkt := b.room()
		putRaw(pkt, rawAnswer, round, int(binary.BigEndian.Uint16(buf[11:])), 0)
		pkt.Addr = p.Addr
		b.filled++
	case round == b.rawRound:
		b.gathered++
	}
}

// rawPatience is how long a raw round waits for lost answers.
const rawPatience = 20 * time.Millisecond

// rawRoundTrip asks all peers at once, and returns the time until all have answered; ok
// is false if an answer was lost. It moves the same bytes, in the same batches, as a
// round of the election.
func (b *bare) rawRoundTrip(peers timed.Set) (took time.Duration, ok bool, err error) {
	b.rawRound++
	b.gathered = 0
	want := peers.Len()
	start := b.clock.Now()
	for id := range peers.All() {
		pkt := b.room()
		putRaw(pkt, rawQuestion, b.rawRound, b.requestSize, b.replySize)
		pkt.Addr = b.to[id]
		b.filled++
	}
	b.send(false)
	for limit := start.Add(rawPatience); b.gathered < want; {
		n, err := b.conn.ReadBatch(b.in, timed.Earlier(limit, b.stack.Deadline()))
		if err != nil {
			return 0, false, err
		}
		b.turn(b.in[:n])
		if b.gathered < want && b.clock.Now() >= limit {
			return 0, false, nil
		}
	}
	return b.clock.Now().Sub(start), true, nil
}

func randomBoot() timed.BootID { return timed.BootID(rand.Uint64() | 1) }
