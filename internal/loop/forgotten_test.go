package loop

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/internal/peers"
	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/internal/udp"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/leader/epoch"
	"github.com/failaware/failaware/timed"
)

// votesCount has a voter start again and again. It is accused when the number of its starts does
// not grow with that, once for each such start, until an epoch begins in which it has no vote.
func votesCount(t testing.TB) {
	for _, c := range []struct {
		boots, starts []uint64
		forgot        []bool
	}{
		{[]uint64{1, 1, 2, 2, 3}, []uint64{1, 1, 2, 2, 9}, []bool{false, false, false, false, false}},
		{[]uint64{1, 2, 3, 4}, []uint64{5, 1, 2, 2}, []bool{false, true, false, true}},
		{[]uint64{1, 2, 3}, []uint64{5, 0, 0}, []bool{false, true, false}}, // it runs without one
		{[]uint64{1, 2, 3}, []uint64{0, 0, 1}, []bool{false, false, false}},
		{[]uint64{1, 2, 3}, []uint64{1, 1, 2}, []bool{false, true, false}},
	} {
		d := &driver{voters: voters{}}
		for i, boot := range c.boots {
			by := timed.Incarnation{Node: 7, Boot: timed.BootID(boot)}
			before, forgot := d.voters.note(by, c.starts[i])
			require.Equal(t, c.forgot[i], forgot, "%+v, %d", c, i)
			if forgot {
				require.Equal(t, c.starts[i-1], before)
			}
		}
		has := d.forgot(7)
		d.voters.enter(&epoch.State{Epoch: 2, System: "majority:1,7"})
		require.Equal(t, has, d.forgot(7), "its promises are asked for")
		d.voters.enter(&epoch.State{Epoch: 3, System: "majority:1,8"})
		require.False(t, d.forgot(7))
	}
}

func TestVotersThatForgetAreNoticed(t *testing.T) { votesCount(t) }

// votesTell hands stamped votes to a loop, directly and passed on by another node. Only those of
// accepted incarnations count.
func votesTell(t testing.TB) {
	l, o := newOutside(nil, peers.Peer{ID: 7, Addr: at(70).String()})
	d := l.driver
	says := func(counter uint64, boot timed.BootID, e datagram.Echo, change func(*wire.Packet)) {
		p := wire.Packet{Header: datagram.Header{Version: wire.Version, Group: d.cfg.Group, Source: 7, Destination: 1, Boot: boot, Stamp: o.instant(), Echo: e},
			MaxDrift: d.cfg.Timing.MaxDrift, FastThreshold: d.cfg.Timing.FastThreshold}
		change(&p)
		b := encoded(t, nil, counter, &p)
		d.turn([]udp.Packet{{Buf: b, N: len(b), Addr: at(70), Received: o.instant()}}, l.cfg.Clock.Read())
		o.run(l, 5*time.Millisecond)
	}
	stamped := func(starts uint64) func(*wire.Packet) {
		return func(p *wire.Packet) {
			p.Frames |= wire.FrameReply | wire.FrameStamp
			p.Reply.Support, p.Reply.LockedTo, p.Stamp = true, d.cfg.Self, leader.VoteStamp{Counter: starts, At: o.instant()}
		}
	}
	fresh := func() datagram.Echo {
		seen := header(t, o.last[at(70)])
		return datagram.Echo{Boot: d.cfg.Self.Boot, Sent: seen.Stamp, Received: seen.Stamp, Latest: seen.Stamp, Heard: datagram.NotHeard}
	}
	says(1, 77, nothing, stamped(9))
	says(2, 77, fresh(), stamped(5)) // accepted with it
	says(3, 77, fresh(), stamped(5))
	require.EqualValues(t, 5, d.voters[7].starts, "and not of a process that is not accepted")
	require.NotContains(t, l.cfg.Sink.(*recorder).events, stack.EventPeerForgot)
	relayed := func(boot timed.BootID, starts uint64) func(*wire.Packet) {
		return func(p *wire.Packet) {
			p.Frames |= wire.FrameCollated
			p.Collated = &wire.Collated{Leader: d.cfg.Self, Number: o.instant(), Replies: []wire.Relayed{{Voter: timed.Incarnation{Node: 7, Boot: boot},
				Reply: leader.Reply{Number: o.instant(), Support: true, LockedTo: d.cfg.Self, Stamp: leader.VoteStamp{Counter: starts, At: o.instant()}}}}}
		}
	}
	says(4, 77, fresh(), relayed(99, 1))
	require.NotContains(t, l.cfg.Sink.(*recorder).events, stack.EventPeerForgot, "that incarnation is not accepted")
	d.voters[7].boot = 99 // an earlier process of it
	says(5, 77, fresh(), relayed(77, 1))
	require.Contains(t, l.cfg.Sink.(*recorder).events, stack.EventPeerForgot)
	require.True(t, d.status().Peers[0].Forgot)
	d.voters[7] = &voter{boot: 98, starts: 1}
	require.False(t, d.forgot(7))
	says(6, 77, fresh(), stamped(1))
	require.True(t, d.forgot(7))
}

func TestVotesTellWhoForgets(t *testing.T) { votesTell(t) }
