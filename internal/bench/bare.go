package bench

import (
	"encoding/json"
	"errors"
	"net"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/internal/jsonlines"
	"github.com/failaware/failaware/internal/seal"
	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/internal/udp"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/timed"
)

// bare is a node without the loop of the root package: the stack, the codec and a
// socket, with fixed addresses. Its turn does the protocol work of a real turn, in the
// same order: decode and handle each packet, serve the timers, publish the state, and
// stamp and send everything in one batch.
type bare struct {
	clock   *hwclock.Clock
	conn    *udp.Conn
	cfg     stack.Config
	stack   *stack.Stack
	decoder wire.Decoder
	encoder wire.Encoder
	suite   uint8
	packet  wire.Packet
	in      []udp.Packet
	out     []udp.Packet // the first filled ones wait to be sent; the others keep buffers
	filled  int
	counter uint64
	sealing sealing
	effects []stack.Effect
	to      [timed.MaxNodes + 1]netip.AddrPort
	served  timed.Instant

	published atomic.Pointer[stack.Snapshot]

	lease time.Duration // from a request to the end of the lease that it wins

	// The last won round: its request and the instant of winning.
	wonRequest, wonAt timed.Instant
	expiration        timed.Instant

	// Sizes in bytes of the latest packets of a round, as seen by the leader.
	requestSize, replySize int

	collated int // packets with the replies of others

	gathered int    // answers of the present raw round
	rawRound uint64 // its number
}

const (
	bareBatch  = 64
	bareBuffer = 1 << 16 // room for a packet
)

func newBare(j *job) (*bare, error) {
	clock, err := hwclock.New()
	if err != nil {
		return nil, err
	}
	conn, err := udp.Listen(j.Listen, clock, udp.Options{})
	if err != nil {
		return nil, err
	}
	b := &bare{clock: clock, conn: conn, lease: j.Timing.MaxDrift.Trust(j.Timing.LockTime)}
	b.cfg = stack.Config{
		Self: timed.Incarnation{Node: j.ID, Boot: randomBoot()}, Group: 1, Timing: j.Timing, RankBy: leader.ByID,
		MaxDeviation: clocksync.DefaultMaxDeviation, MaxSlew: clocksync.DefaultMaxSlew,
		StepThreshold: clocksync.DefaultStepThreshold,
	}
	b.encoder.MaxPacket = bareBuffer
	if b.sealing, err = newSealing(j.Key); err != nil {
		return nil, err
	}
	if j.Key != "" {
		b.suite, b.encoder.Room = wire.SuiteXAES256GCM, seal.Head
	}
	b.in = make([]udp.Packet, bareBatch)
	return b, nil
}

// begin starts the protocol, with the given peers.
func (b *bare) begin(peers []address) error {
	var set timed.Set
	for _, p := range peers {
		at, err := netip.ParseAddrPort(p.Addr)
		if err != nil {
			return err
		}
		if p.ID != b.cfg.Self.Node {
			b.to[p.ID] = at
			set.Add(p.ID)
		}
	}
	now := b.clock.Now()
	b.stack, b.served = stack.New(b.cfg, set, now, clocksync.Time(time.Now().UnixNano())), now
	return nil
}

// step waits for packets or the earliest timer, and takes a turn.
func (b *bare) step() error {
	n, err := b.conn.ReadBatch(b.in, b.stack.Deadline())
	if err != nil {
		return err
	}
	b.turn(b.in[:n])
	return nil
}

// turn handles packets and timers.
func (b *bare) turn(pkts []udp.Packet) {
	now := b.clock.Now()
	handled := len(pkts) == 0
	for i := range pkts {
		if p := &pkts[i]; isRaw(p.Buf[:p.N]) {
			b.raw(p)
		} else {
			b.handle(now, p)
			handled = true
		}
	}
	if handled {
		if len(pkts) == 0 || now >= b.stack.Deadline() || now.Sub(b.served) >= b.cfg.Timing.KeepalivePeriod {
			b.timeout(now)
		}
		b.publish(now)
	}
	b.send(handled)
}

// timeout serves the timers.
func (b *bare) timeout(now timed.Instant) {
	b.served = now
	b.perform(b.stack.HandleTimeout(now, b.effects[:0]))
	b.noteWin()
}

func (b *bare) handle(now timed.Instant, pkt *udp.Packet) {
	if b.sealing.open(&b.decoder, pkt.Buf[:pkt.N], &b.packet) != nil || b.packet.Header.Group != b.cfg.Group {
		return
	}
	b.perform(b.stack.HandlePacket(now, timed.Earlier(pkt.Received, now), &b.packet, b.effects[:0]))
	if b.packet.Has(wire.FrameReply) {
		b.replySize = pkt.N
	}
	if b.packet.Has(wire.FrameCollated) {
		b.collated++
	}
	b.noteWin()
}

// noteWin records the instant of a round that was just won. The lease, which is counted
// from the request, identifies the request.
func (b *bare) noteWin() {
	if at, leading := b.stack.Election().Leading(); leading && at != b.expiration {
		b.wonAt, b.expiration, b.wonRequest = b.clock.Now(), at, at.Add(-b.lease)
	}
}

// publish publishes the state, as for readers.
func (b *bare) publish(now timed.Instant) {
	snap := b.stack.Snapshot(now)
	if prev := b.published.Load(); prev == nil || *prev != snap {
		b.published.Store(&snap)
	}
}

func (b *bare) perform(effects []stack.Effect) {
	b.effects = effects
	for i := range effects {
		e := &effects[i]
		if e.Packet == nil {
			continue
		}
		pkt := b.room()
		e.Packet.Header.Suite = b.suite
		buf, err := b.encoder.AppendBefore(pkt.Buf[:0], e.Packet, nil)
		if err != nil {
			continue
		}
		pkt.Buf, pkt.N, pkt.Addr = buf, len(buf), b.to[e.Peer]
		b.filled++
		if e.Packet.Has(wire.FrameRequest) {
			b.requestSize = len(buf)
		}
	}
}

// room returns the next outgoing packet; the caller fills it, and counts it.
func (b *bare) room() *udp.Packet {
	if b.filled == len(b.out) {
		b.out = append(b.out, udp.Packet{})
	}
	return &b.out[b.filled]
}

// send sends the gathered packets in one batch.
func (b *bare) send(stamped bool) {
	if b.filled == 0 {
		return
	}
	if stamped {
		if b.suite != wire.SuiteNone {
			b.sealing.draw()
		}
		stamp := b.clock.Now()
		for i := range b.out[:b.filled] {
			if p := &b.out[i]; !isRaw(p.Buf[:p.N]) {
				b.counter++
				p.Buf = b.sealing.finish(p.Buf, stamp, b.counter)
				p.N = len(p.Buf)
			}
		}
	}
	// A broken socket shows at the next reading.
	_, _ = b.conn.WriteBatch(b.out[:b.filled])
	b.filled = 0
}

// serveBare is a follower in a process of its own.
func serveBare(j *job, commands *json.Decoder, reports *jsonlines.Writer) error {
	b, err := newBare(j)
	if err != nil {
		return err
	}
	reports.Put(report{Addr: b.conn.LocalAddr().String()})
	var cmd command
	if err := commands.Decode(&cmd); err != nil {
		_ = b.conn.Close()
		return err
	}
	if err := b.begin(cmd.Peers); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() {
		var cmd command
		ended <- commands.Decode(&cmd) // only the end of the stream comes
		_ = b.conn.Close()
	}()
	for {
		if err := b.step(); errors.Is(err, net.ErrClosed) {
			return <-ended
		} else if err != nil {
			return err
		}
	}
}
