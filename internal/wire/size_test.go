package wire

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

func TestLargestViews(t *testing.T) {
	for name, c := range map[string]struct {
		packet func(n int) Packet
		most   int
	}{
		"proposal":             {proposePacket, 94},
		"commit after a crash": {func(n int) Packet { return commitPacket(n, fromOneView) }, 87},
		"commit of loners":     {func(n int) Packet { return commitPacket(n, fromOwnViews) }, Usual},
		"fullest commit":       {fullestPacket, 17},
	} {
		var e Encoder
		most := 0
		for n := 1; n <= timed.MaxNodes; n++ {
			p := c.packet(n)
			b, err := e.Append(nil, &p)
			if err == nil {
				require.LessOrEqual(t, len(b), MaxPacket)
				most = n
				continue
			}
			var large *TooLargeError
			require.ErrorAs(t, err, &large, name)
			require.Equal(t, MaxPacket, large.Max)
			require.Equal(t, n, large.Members)
			require.Contains(t, err.Error(), "over the limit")
			require.Nil(t, b)

			wide := Encoder{MaxPacket: large.Size}
			b, err = wide.Append(nil, &p)
			require.NoError(t, err, "the error says how much is enough")
			require.Len(t, b, large.Size)
			var got Packet
			require.NoError(t, new(Decoder).Decode(b, &got))
			require.Equal(t, p, got)
		}
		require.Equal(t, c.most, most, name)
	}
}

func TestPacketForHoldsTheFullestPacketExactly(t *testing.T) {
	e := Encoder{MaxPacket: PacketFor(timed.MaxNodes)}
	p := fullestPacket(timed.MaxNodes)
	b, err := e.Append(nil, &p)
	require.NoError(t, err)
	require.Equal(t, e.MaxPacket-127, len(b), "ids up to 127 take a byte less")
	rapid.Check(t, func(t *rapid.T) {
		p := drawPacket(t)
		p.Frames, p.Collated, p.Request.Tree = p.Frames&^(FrameInUse|FrameTree|FrameCollated|FrameEpoch|FrameMembers|FrameLabels|FrameUsed), nil, leader.Tree{}
		p.Epoch = nil
		n := 0
		if p.Part.View != nil {
			n = len(p.Part.View.Members)
		}
		e := Encoder{MaxPacket: PacketFor(n)}
		_, err := e.Append(nil, &p)
		require.NoError(t, err)
	})
}

// fullestPacket returns the largest packet with n members.
func fullestPacket(n int) Packet {
	p := commitPacket(n, fromStrangers)
	big := membership.ViewID{Sequence: membership.MaxSequence, Leader: 255, Boot: bootOf(255)}
	holder := timed.Incarnation{Node: 255, Boot: bootOf(255)}
	p.Frames = (FrameBroadcast - 1) &^ (FrameInUse | FrameTree | FrameCollated | FrameEpoch | FrameMembers | FrameLabels | FrameUsed)
	p.MaxDrift, p.FastThreshold, p.KeepalivePeriod = timed.MaxDrift, timed.MaxDuration, timed.MaxDuration
	p.State = leader.State{Leading: true, Contender: true, Support: 255, Weight: 1<<16 - 1, LockedTo: holder, MaxLock: timed.MaxDuration}
	p.Release, p.Resign, p.Dropped = datagram.MaxStamp, big, big
	p.Request = leader.Request{Number: datagram.MaxStamp, LockTime: timed.MaxDuration}
	p.Part.ID.Sequence, p.Part.View.ID.Sequence = membership.MaxSequence, membership.MaxSequence
	if n == timed.MaxNodes { // so that the leader's id takes two bytes as well
		p.Part.ID.Leader, p.Part.ID.Boot = 255, bootOf(255)
		p.Part.View.ID = p.Part.ID
	}
	p.Line.Timeline = clocksync.TimelineID{Leader: 255, Boot: bootOf(255), Sequence: membership.MaxSequence}
	p.Line.Parent = p.Line.Timeline
	p.Line.Rate, p.Line.Until = -clocksync.MaxSlewLimit, datagram.MaxStamp
	fillUTC(&p)
	p.Reply = leader.Reply{Number: datagram.MaxStamp, Support: true, LockedTo: holder, Prefers: 255}
	p.State.Global, p.State.Named, p.State.Quorate, p.State.Late = true, true, true, true
	p.Quorum, p.Stamp = leader.QuorumID{Epoch: math.MaxUint64, Digest: math.MaxUint64}, leader.VoteStamp{Counter: math.MaxUint64, At: datagram.MaxStamp}
	p.Question, p.Successor = leader.Question{Asked: datagram.MaxStamp}, 255
	p.Answer = leader.Answer{Asked: datagram.MaxStamp, Asker: bootOf(255), Local: timed.MaxDuration, Global: timed.MaxDuration}
	p.Report = membership.Report{Acknowledged: big, Installed: big, Sequence: membership.MaxSequence}
	return p
}

func TestTheLargestTreeTakesTreeBytes(t *testing.T) {
	var e Encoder
	p := requestPacket()
	bare, err := e.Append(nil, &p)
	require.NoError(t, err)
	p.Frames |= FrameTree
	p.Request.Tree = leader.Tree{Fanout: leader.MaxFanout, Target: timed.SetOf(63, 127, 191, 255)}
	b, err := e.Append(nil, &p)
	require.NoError(t, err)
	require.Len(t, b, len(bare)+treeBytes)
}
