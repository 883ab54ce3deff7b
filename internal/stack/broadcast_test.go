package stack

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/timed"
)

// bootOf returns a boot id that takes nine bytes on the wire, as random ones do.
func bootOf(id timed.NodeID) timed.BootID { return 0xf00d_0000_0000_0000 | timed.BootID(id)<<8 | 1 }

func incarnationOf(id timed.NodeID) timed.Incarnation {
	return timed.Incarnation{Node: id, Boot: bootOf(id)}
}

// wired is a few whole nodes in memory. Their packets pass through the wire format and
// arrive in the same instant.
type wired struct {
	now     timed.Instant
	nodes   []*Stack
	enc     wire.Encoder
	dec     wire.Decoder
	flight  [][]byte // in flight, and buffers to use again
	to      []int
	free    [][]byte
	packet  wire.Packet
	out     []Effect
	counter uint64
	count   []int
	bytes   int
}

func newWired(n int, cfg *broadcast.Config) *wired {
	return newWiredOf(n, Config{Broadcast: cfg})
}

// newWiredOf takes the configuration of all nodes, without timing and clocks.
func newWiredOf(n int, cfg Config) *wired {
	w := &wired{now: timed.Instant(time.Hour), count: make([]int, n)}
	var all timed.Set
	for i := range n {
		all.Add(timed.NodeID(i + 1))
	}
	for i := range n {
		id := timed.NodeID(i + 1)
		cfg.Self, cfg.Group, cfg.Timing = incarnationOf(id), 1, timed.LAN()
		cfg.MaxDeviation, cfg.MaxSlew = clocksync.DefaultMaxDeviation, clocksync.DefaultMaxSlew
		cfg.StepThreshold = clocksync.DefaultStepThreshold
		w.nodes = append(w.nodes, New(cfg, all.Without(id), w.now, 0))
	}
	return w
}

// pass lets time pass.
func (w *wired) pass(d time.Duration) {
	for end := w.now.Add(d); w.now < end; w.now = w.now.Add(200 * time.Microsecond) {
		w.turn()
	}
}

// turn delivers the packets in flight and then lets the nodes do their due work, as their
// loops do after a batch of packets.
func (w *wired) turn() {
	for _, s := range w.nodes {
		s.rests(w.now)
	}
	flight, to := w.flight, w.to
	w.flight, w.to = nil, nil
	for i, b := range flight {
		if w.dec.Decode(b, &w.packet) != nil {
			panic("a packet that was encoded cannot be decoded")
		}
		w.perform(to[i], w.nodes[to[i]].HandlePacket(w.now, w.now, &w.packet, w.out[:0]))
		w.free = append(w.free, b)
	}
	clear(flight)
	if w.flight == nil {
		w.flight, w.to = flight[:0], to[:0]
	}
	for i, s := range w.nodes {
		if s.Deadline() <= w.now {
			w.perform(i, s.HandleTimeout(w.now, w.out[:0]))
		}
	}
}

func (w *wired) perform(i int, out []Effect) {
	for k := range out {
		switch e := &out[k]; e.Kind {
		case Send, SendBack:
			var b []byte
			if n := len(w.free); n > 0 {
				b, w.free = w.free[n-1], w.free[:n-1]
			}
			b, err := w.enc.Append(b[:0], e.Packet)
			if err != nil {
				panic(err)
			}
			w.counter++
			wire.FinishWhole(b, w.now, w.counter)
			w.flight, w.to = append(w.flight, b), append(w.to, int(e.Peer)-1)
		case Deliver:
			if e.Broadcast.Kind == broadcast.Deliver {
				n := 0
				for j := range e.Broadcast.Deliveries {
					n += len(e.Broadcast.Deliveries[j].Payload)
				}
				w.count[i] += len(e.Broadcast.Deliveries)
				w.bytes += n
				w.nodes[i].Consumed(w.now, n, len(e.Broadcast.Deliveries))
			}
		}
	}
	w.out = out[:0]
}

func TestNodesBroadcast(t *testing.T) {
	w := newWired(3, &broadcast.Config{})
	w.pass(500 * time.Millisecond)
	for _, s := range w.nodes {
		require.Equal(t, timed.SetOf(1, 2, 3), s.BroadcastState().View().Set)
	}
	for i := range 300 {
		_, err := w.nodes[i%3].Broadcast(w.now, []byte("hello"), broadcast.Options{
			Order: broadcast.Order(i % 2), Atomicity: broadcast.Atomicity(i % 3)})
		require.NoError(t, err)
	}
	w.pass(200 * time.Millisecond)
	require.Equal(t, []int{300, 300, 300}, w.count)
	require.Equal(t, 3*300*5, w.bytes)
}

// A message is due at once.
func TestMessagesAreDueAtOnce(t *testing.T) {
	w := newWired(2, &broadcast.Config{})
	w.pass(time.Second)
	s := w.nodes[0]
	require.Greater(t, s.Deadline(), w.now)
	_, err := s.Broadcast(w.now, []byte("x"), broadcast.Options{})
	require.NoError(t, err)
	require.LessOrEqual(t, s.Deadline(), w.now)
}

// caughtUpIsDue has an application take what it owes. The others wait for the acknowledgement
// that was held back, which is due at once.
func caughtUpIsDue(t testing.TB) {
	w := newWired(2, &broadcast.Config{Backlog: 100})
	w.pass(time.Second)
	s := w.nodes[0]
	s.BroadcastState().Consumed(-1000, 0) // it owes so much
	w.pass(100 * time.Millisecond)
	for s.Deadline() <= w.now {
		w.turn()
	}
	s.Consumed(w.now, 1000, 0)
	require.LessOrEqual(t, s.Deadline(), w.now)
}

func TestWhatWasHeldBackIsDueAtOnce(t *testing.T) { caughtUpIsDue(t) }

// Packets of a node without broadcast have no broadcast frames.
func TestNoBroadcastNoFrames(t *testing.T) {
	w := newWired(2, nil)
	for range 2000 {
		w.now = w.now.Add(200 * time.Microsecond)
		w.turn()
		for _, b := range w.flight {
			var p wire.Packet
			require.NoError(t, w.dec.Decode(b, &p))
			require.False(t, p.Has(wire.FrameBroadcast))
		}
	}
	require.NotNil(t, w.nodes[0].Membership().View())
	require.Nil(t, w.nodes[0].BroadcastState())
}

// BenchmarkNodesBroadcast measures the cost of a message at three whole nodes together,
// with the wire format and without sockets.
func BenchmarkNodesBroadcast(b *testing.B) {
	for _, packet := range []int{broadcast.DefaultPacketBytes, 16 << 10, broadcast.MaxPacketBytes} {
		for _, size := range []int{64, 1024, 16384} {
			b.Run(fmt.Sprintf("packet%d/%dB", packet, size), func(b *testing.B) {
				w := newWired(3, &broadcast.Config{PacketBytes: packet})
				w.pass(500 * time.Millisecond)
				payload := make([]byte, size)
				round := func() {
					for _, s := range w.nodes {
						for range max(1, 32768/size) {
							if _, err := s.Broadcast(w.now, payload, broadcast.Options{Order: broadcast.TotalOrder, Atomicity: broadcast.WeakAtomicity}); err != nil {
								break // the next rounds make room
							}
						}
					}
					w.now = w.now.Add(20 * time.Microsecond)
					w.turn()
				}
				for range 500 {
					round()
				}
				start := w.count[0]
				b.SetBytes(int64(size))
				b.ReportAllocs()
				b.ResetTimer()
				for w.count[0]-start < b.N {
					round()
				}
			})
		}
	}
}
