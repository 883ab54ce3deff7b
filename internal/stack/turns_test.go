package stack

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/timed"
)

// Every handler begins a turn: its effects follow those that the caller has, and nothing of
// the turn before is sent again.
func TestEveryHandlerBeginsATurn(t *testing.T) {
	c := newCluster(3, 0)
	for c.leader() == nil {
		c.step(nil)
	}
	s, p := c.leader(), &wire.Packet{}
	for name, handle := range map[string]func(timed.Instant, []Effect) []Effect{
		"HandleSample":  func(now timed.Instant, out []Effect) []Effect { return s.HandleSample(now, &clocksync.Sample{}, out) },
		"Resign":        s.Resign,
		"HandOver":      func(now timed.Instant, out []Effect) []Effect { return s.HandOver(now, 2, out) },
		"Leave":         s.Leave,
		"LeaveForGood":  s.LeaveForGood,
		"SendKeepalive": func(now timed.Instant, out []Effect) []Effect { return s.SendKeepalive(now, 2, out) },
		"Verify":        func(now timed.Instant, out []Effect) []Effect { return s.Verify(now, 2, out) },
		"HandlePacket":  func(now timed.Instant, out []Effect) []Effect { return s.HandlePacket(now, now, p, out) },
		"HandleBatched": func(now timed.Instant, out []Effect) []Effect { return s.HandleBatched(now, now, p, out) },
		"HandleTimeout": s.HandleTimeout,
		"Distrust":      s.Distrust,
	} {
		s.packets.used, s.outbox.toAll = 99, wire.FrameBroadcast
		own := make([]Effect, 1, 64)
		out := handle(c.now, own)
		require.Same(t, &own[0], &out[0], name)
		require.Less(t, s.packets.used, 99, name)
		require.Zero(t, s.outbox.toAll&wire.FrameBroadcast, name)
	}
}

// Packets that are not for this node, or cannot be true, count as such and change nothing.
func TestPacketsThatAreNotForThisNode(t *testing.T) {
	c := newCluster(2, 0)
	var p wire.Packet
	for p.Header.Source == 0 {
		c.step(nil)
		if len(c.sent) > 0 {
			p = c.sent[0]
		}
	}
	s := c.stacks[p.Header.Destination-1]
	ahead := p.Header.Stamp.Add(s.cfg.Timing.KeepalivePeriod)
	for _, x := range []struct {
		name   string
		change func(*wire.Packet)
		count  *uint64 // nil: it is taken
	}{
		{"another group", func(p *wire.Packet) { p.Header.Group++ }, &s.Dropped.Foreign},
		{"another node", func(p *wire.Packet) { p.Header.Destination++ }, &s.Dropped.Foreign},
		{"another drift", func(p *wire.Packet) { p.MaxDrift++ }, &s.Dropped.Mismatch},
		{"another threshold", func(p *wire.Packet) { p.FastThreshold++ }, &s.Dropped.Mismatch},
		{"a request", func(p *wire.Packet) { p.Frames, p.Request.Number = wire.FrameRequest, ahead+1 }, &s.Dropped.Impossible},
		{"a release", func(p *wire.Packet) { p.Frames, p.Release = wire.FrameRelease, ahead+1 }, &s.Dropped.Impossible},
		{"a question", func(p *wire.Packet) { p.Frames, p.Question = wire.FrameQuestion, leader.Question{Asked: ahead + 1} }, &s.Dropped.Impossible},
		{"a request in time", func(p *wire.Packet) { p.Frames, p.Request.Number = wire.FrameRequest, ahead }, nil},
		{"no request", func(p *wire.Packet) {
			p.Frames, p.Request.Number, p.Release, p.Question.Asked = 0, ahead+1, ahead+1, ahead+1
		}, nil},
		{"an answer to another incarnation", func(p *wire.Packet) { p.Frames |= wire.FrameInUse }, &s.Dropped.Unknown},
	} {
		before, q := s.Dropped, p
		s.begin(c.now, nil)
		x.change(&q)
		require.Equal(t, x.count == nil, s.forThisNode(&q), x.name)
		if x.count != nil {
			*x.count--
		}
		require.Equal(t, before, s.Dropped, x.name)
		if x.count == &s.Dropped.Mismatch {
			require.Len(t, s.out, 1, x.name)
			require.Equal(t, EventMismatch, s.out[0].Event.Kind)
		} else {
			require.Empty(t, s.out, x.name)
		}
	}
}

// Each level of a tree has an equal share of Δ: the lowest waits least.
func TestLevelsShareTheWait(t *testing.T) {
	s := newCluster(1, 0).stacks[0]
	s.cfg.Timing.FastThreshold = 12 * time.Millisecond
	for level, want := range []time.Duration{12 * time.Millisecond, 8 * time.Millisecond, 4 * time.Millisecond, 0} {
		require.Equal(t, want, s.share(leader.Place{Level: level, Levels: 3}))
	}
}
