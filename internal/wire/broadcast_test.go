package wire

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// broadcastPacket returns a packet with every section of a broadcast frame.
func broadcastPacket() Packet {
	p := basePacket()
	p.Frames = FrameBroadcast
	marks := []broadcast.Mark{{Node: 1, Boot: bootOf(1), Sequence: 7}, {Node: 2, Boot: bootOf(2)}}
	p.Broadcast = &broadcast.Packet{
		Header: broadcast.Header{View: viewOf(4, 1), Known: 9, Have: 8, Stable: [2]uint64{7, 6}, Tails: [2]uint64{70, 80}, Floor: 1_790_000_000_000_000_000},
		Runs: []broadcast.Run{
			{Sender: 1, Boot: bootOf(1), Class: broadcast.ClassOrdered, Options: broadcast.Options{Order: broadcast.TimedOrder, Atomicity: broadcast.StrictAtomicity},
				Begins: true, Ends: true, First: 1 << 40, Count: 3, Stamp: 5, Deviation: time.Microsecond, Size: 2, Payload: []byte("aabbcc")},
			{Sender: 3, Boot: bootOf(3), Options: broadcast.Options{Order: broadcast.Unordered, Atomicity: broadcast.WeakAtomicity}, First: 1, Count: 2, Ends: true, Stamp: -5, Deviation: clocksync.UnknownBound,
				Sizes: []uint32{0, 5}, Payload: []byte("hello")},
		},
		Decisions: []broadcast.Decision{
			{Number: 10, Next: 2, Urgent: true, Floor: 3, Ranges: []broadcast.Range{{Member: 0, To: 5}, {Member: 0, Class: 1, To: 1 << 50}, {Member: 254, To: 1}}},
			{Number: 11, Floor: -9, Leeway: time.Hour, Ranges: []broadcast.Range{}},
		},
		Wants: []broadcast.Want{{Sender: 2, Boot: bootOf(2), Class: 1, From: 3, To: 9}},
		Log:   broadcast.Span{From: 3, To: 4},
		Done:  viewOf(5, 1),
		Report: &broadcast.Report{Piece: broadcast.Piece{Number: 2, Of: 3}, Proposal: viewOf(5, 1), Previous: viewOf(4, 1), Have: 8, Stable: [2]uint64{5, 4}, Sent: [2]uint64{6, 7}, Acks: marks, Ordered: marks,
			Unordered: marks[:1]},
		Plan: &broadcast.Plan{Piece: broadcast.Piece{Of: 1}, Proposal: viewOf(5, 1), Groups: []broadcast.Group{{Previous: viewOf(4, 1), End: 8, Source: 2,
			Lack: []broadcast.Lack{{Node: 1, Have: 4}}, Fill: []broadcast.Fill{{Member: 1, Holder: 2, Sender: 3, Boot: bootOf(3), From: 4, To: 9}}}}},
		Commit: &broadcast.Commit{Piece: broadcast.Piece{Of: 1}, Proposal: viewOf(5, 1), Branches: []broadcast.Branch{{Previous: viewOf(4, 1), End: 8, Stable: [2]uint64{5, 4}, Acks: marks}},
			Ordered: marks, Unordered: marks},
	}
	return p
}

// exported returns a copy of the exported fields of a broadcast packet.
func exported(p *broadcast.Packet) broadcast.Packet {
	return broadcast.Packet{Header: p.Header, Runs: append([]broadcast.Run(nil), p.Runs...),
		Decisions: append([]broadcast.Decision(nil), p.Decisions...), Wants: append([]broadcast.Want(nil), p.Wants...),
		Log: p.Log, Done: p.Done, Report: p.Report, Plan: p.Plan, Commit: p.Commit}
}

func TestBroadcastFramesSurviveTheWire(t *testing.T) {
	var e Encoder
	var d Decoder
	p := broadcastPacket()
	for i := range 9 {
		q := *p.Broadcast
		// All sections, then each of them left out in turn.
		switch i {
		case 1:
			q.Runs = nil
		case 2:
			q.Decisions = nil
		case 3:
			q.Wants = nil
		case 4:
			q.Log = broadcast.Span{}
		case 5:
			q.Done = membership.ViewID{}
		case 6:
			q.Report = nil
		case 7:
			q.Plan = nil
		case 8:
			q.Commit = nil
		}
		one := p
		one.Broadcast = &q
		b, err := e.Append(nil, &one)
		require.NoError(t, err)
		var got Packet
		require.NoError(t, d.Decode(b, &got))
		require.Equal(t, exported(&q), exported(got.Broadcast))
		for _, r := range got.Broadcast.Runs {
			require.Equal(t, len(r.Payload), cap(r.Payload), "who appends to it changes nothing of the packet")
		}
		got.Broadcast = one.Broadcast
		require.Equal(t, one, got)
	}
}

// A broadcast packet that was cut has no frames.
func TestBrokenBroadcastFrames(t *testing.T) {
	var e Encoder
	var d Decoder
	p := broadcastPacket()
	b, err := e.Append(nil, &p)
	require.NoError(t, err)
	for n := range b {
		var got Packet
		if err := d.Decode(b[:n], &got); err == nil {
			require.Zero(t, got.Frames, "cut to %d bytes it can only be without frames", n)
		}
		require.Nil(t, got.Broadcast)
	}
}

// changed changes each byte of packets of all kinds in several ways, as somebody does who
// has the key. What is decoded must be what may be sent.
func changed(t testing.TB) {
	rnd := rand.New(rand.NewPCG(1, 1))
	var e Encoder
	var d Decoder
	accepted := 0
	all := samples()
	all["broadcast"] = broadcastPacket()
	for name, p := range all {
		b, err := e.Append(nil, &p)
		require.NoError(t, err)
		for at := range b {
			for _, to := range []byte{0, 1, b[at] - 1, b[at] + 1, b[at] ^ 0x80, 0xff, byte(rnd.Uint32())} {
				c := append([]byte(nil), b...)
				c[at] = to
				var got Packet
				if d.Decode(checked(c), &got) != nil {
					continue
				}
				accepted++
				_, err := e.Append(nil, &got)
				require.NoError(t, err, "%s: byte %d of %x is %x", name, at, b, to)
			}
		}
	}
	require.Greater(t, accepted, 10000)
}

// wrapped makes each small number of packets of all kinds larger by 256. A number that does
// not fit is refused, and not taken for the small one.
func wrapped(t testing.TB) {
	var e Encoder
	var d Decoder
	all := samples()
	all["broadcast"] = broadcastPacket()
	for name, p := range all {
		b, err := e.Append(nil, &p)
		require.NoError(t, err)
		end := 0 // of the frame
		for at, frame := HeaderSize+checksumSize, 0; at < len(b); at++ {
			if at >= end {
				frame = at
				at += 3
				end = at + int(binary.BigEndian.Uint16(b[frame+1:]))
			}
			if at >= end || b[at] >= 0x80 {
				continue
			}
			c := append(append(append([]byte(nil), b[:at]...), 0xcd, 1), b[at:]...)
			binary.BigEndian.PutUint16(c[frame+1:], uint16(end-frame-3+2))
			var got Packet
			if d.Decode(checked(c), &got) == nil {
				out, err := e.Append(nil, &got)
				require.NoError(t, err)
				require.Equal(t, c, out, "%s: byte %d of %x", name, at, b)
			}
		}
	}
}

func TestNumbersDoNotWrap(t *testing.T) { wrapped(t) }

func TestChangedPacketsAreRefusedOrMayBeSent(t *testing.T) { changed(t) }

func TestWrongBroadcastFramesAreNotSent(t *testing.T) {
	var e Encoder
	for name, spoil := range map[string]func(*Packet){
		"no packet":            func(p *Packet) { p.Broadcast = nil },
		"more than was said":   func(p *Packet) { p.Broadcast.Runs[0].Payload = []byte("a") },
		"too many messages":    func(p *Packet) { p.Broadcast.Runs[0].Count = broadcast.MaxRun + 1 },
		"a class of its own":   func(p *Packet) { p.Broadcast.Runs[0].Class = broadcast.ClassUnordered },
		"an unknown order":     func(p *Packet) { p.Broadcast.Runs[0].Options.Order = 3 },
		"no node's messages":   func(p *Packet) { p.Broadcast.Runs[1].Sender = timed.NoNode },
		"a range to nothing":   func(p *Packet) { p.Broadcast.Decisions[0].Ranges[0].To = 0 },
		"decision zero":        func(p *Packet) { p.Broadcast.Decisions[0].Number = 0 },
		"a want turned round":  func(p *Packet) { p.Broadcast.Wants[0].To = 1 },
		"a plan from nowhere":  func(p *Packet) { p.Broadcast.Plan.Groups[0].Source = timed.NoNode },
		"no piece":             func(p *Packet) { p.Broadcast.Report.Piece = broadcast.Piece{} },
		"a piece after all":    func(p *Packet) { p.Broadcast.Plan.Number = 1 },
		"too many pieces":      func(p *Packet) { p.Broadcast.Commit.Of = broadcast.MaxPieces + 1 },
		"a sequence too large": func(p *Packet) { p.Broadcast.Tails[1] = broadcast.MaxSequence + 1 },
	} {
		p := broadcastPacket()
		spoil(&p)
		_, err := e.Append(nil, &p)
		require.ErrorIs(t, err, ErrRange, name)
	}
}

// In the steady state neither side allocates memory for messages and decisions.
func TestBroadcastFramesAllocateNothing(t *testing.T) {
	var e Encoder
	var d Decoder
	p := broadcastPacket()
	p.Broadcast.Report, p.Broadcast.Plan, p.Broadcast.Commit = nil, nil, nil
	b := make([]byte, 0, 4096)
	var got Packet
	require.Zero(t, testing.AllocsPerRun(100, func() {
		out, err := e.Append(b, &p)
		if err != nil || d.Decode(out, &got) != nil {
			t.Fail()
		}
	}))
}

func BenchmarkBroadcastCodec(b *testing.B) {
	var e Encoder
	var d Decoder
	p := basePacket()
	p.Frames = FrameBroadcast
	p.Broadcast = &broadcast.Packet{Header: broadcastPacket().Broadcast.Header, Runs: []broadcast.Run{{Sender: 1, Boot: bootOf(1),
		Class: broadcast.ClassOrdered, Options: broadcast.Options{Order: broadcast.TotalOrder, Atomicity: broadcast.WeakAtomicity}, Begins: true, Ends: true, First: 1 << 30,
		Count: 200, Stamp: 1_790_000_000_000_000_000, Size: 64, Payload: make([]byte, 200*64)}}}
	buf := make([]byte, 0, 1<<16)
	var got Packet
	b.ReportAllocs()
	for range b.N {
		out, err := e.Append(buf, &p)
		if err != nil || d.Decode(out, &got) != nil {
			b.Fatal(err)
		}
	}
}

// A packet whose broadcast frame is encoded separately has the same header, frames and
// limit as one that is encoded at once. The body's beginning says how long the tail is.
func TestASeparateBroadcastFrameMakesTheSamePacket(t *testing.T) {
	var e Encoder
	p := broadcastPacket()
	whole, err := e.Append([]byte("x"), &p)
	require.NoError(t, err)
	tail, err := e.AppendBroadcast(nil, p.Broadcast)
	require.NoError(t, err)
	before, err := e.AppendBefore([]byte("x"), &p, tail)
	require.NoError(t, err)
	Finish(before[1:], TailSum(tail), p.Header.Stamp, p.Header.Counter)
	apart := append(before, tail...)
	require.Equal(t, whole[:1+HeaderSize], apart[:1+HeaderSize])
	want, err := Unsealed(whole[1:])
	require.NoError(t, err)
	got, err := Unsealed(apart[1:])
	require.NoError(t, err)
	require.Equal(t, want, got)
	for bit := range 8 * len(apart[1:]) {
		apart[1+bit/8] ^= 1 << (bit % 8)
		_, err := Unsealed(apart[1:])
		require.ErrorIs(t, err, ErrChecksum, "bit %d", bit)
		apart[1+bit/8] ^= 1 << (bit % 8)
	}

	b, err := e.AppendBefore([]byte("x"), &p, make([]byte, MaxBroadcast))
	var large *TooLargeError
	require.ErrorAs(t, err, &large)
	require.Equal(t, MaxBroadcast+len(before)-1, large.Size)
	require.Equal(t, "x", string(b))

	p.Broadcast.Floor = broadcast.MaxTime + 1
	b, err = e.AppendBroadcast([]byte("x"), p.Broadcast)
	require.ErrorIs(t, err, ErrRange)
	require.Equal(t, "x", string(b))
}
