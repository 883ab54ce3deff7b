package bench

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/udp"
	"github.com/failaware/failaware/timed"
)

func TestFloor(t *testing.T) {
	if err := new(usage).ofProcess(); err != nil {
		t.Skip(err)
	}
	for _, all := range []bool{false, true} {
		for i := range 4 {
			opt := floorOptions{Members: 2 + i/2, Size: []int{64, 16384}[i%2], All: all, Packet: 1200, Plain: all, Launch: launcher(t)}
			var c FloorCell
			patiently(&opt.For, func() bool {
				var err error
				c, err = measureFloor(t.Context(), opt)
				require.NoError(t, err)
				return c.Messages > 0
			})
			require.Equal(t, opt.Members, c.Members)
			require.Equal(t, opt.Size, c.Size)
			require.Equal(t, []int{1152, 1200}[i%2], c.Packet)
			require.Positive(t, c.Messages)
			require.InEpsilon(t, c.Bytes, c.Messages*float64(c.Size), 1e-9)
			require.Positive(t, c.Packets)
			require.Positive(t, c.PerPacket)
			require.Less(t, c.Lost, 1.0)
			if opt.Plain {
				require.Zero(t, c.Together)
			} else {
				require.Positive(t, c.Together)
				require.LessOrEqual(t, c.Together, 1.0)
			}
			if all {
				require.Equal(t, c.Members, c.Senders)
			} else {
				require.Equal(t, 1, c.Senders)
			}
		}
	}
}

func TestFloorEndsWithItsContext(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := measureFloor(ended, floorOptions{Members: 2, Size: 64, Packet: 1200, For: time.Second, Launch: launcher(t)})
	require.ErrorIs(t, err, context.Canceled)
}

func TestFloorSumsUpAtTheSlowestMember(t *testing.T) {
	run := &floorRun{Size: 100, Packet: 1000, Senders: timed.SetOf(1)}
	c := floorCell(run, []floorCount{
		{Elapsed: time.Second, CPU: 300 * time.Millisecond, OwnBytes: 10_000, Sent: 20, Lost: 5, Together: 15},
		{Elapsed: time.Second, CPU: 100 * time.Millisecond, Bytes: 10_000, Packets: 10},
		{Elapsed: 2 * time.Second, CPU: 200 * time.Millisecond, Bytes: 10_000, Packets: 10},
	})
	require.Equal(t, FloorCell{Members: 3, Size: 100, Packet: 1000, Senders: 1, Messages: 50, Bytes: 5000, Packets: 15, Lost: 0.25, Together: 0.75,
		PerPacket: 30 * time.Millisecond, PerMessage: 10 * time.Millisecond, Cores: 0.5}, c)
}

func TestMessagesFillPackets(t *testing.T) {
	require.Equal(t, []int{1152}, (&floorRun{Size: 64, Packet: 1200}).sizes())
	require.Equal(t, []int{1200, 1200, 600}, (&floorRun{Size: 3000, Packet: 1200}).sizes())
	require.Equal(t, []int{1200}, (&floorRun{Size: 1200, Packet: 1200}).sizes())
}

// A window leaves room for the windows of all other senders in the receiver's buffer.
func TestFloorWindowsFitTheBuffer(t *testing.T) {
	run := &floorRun{Size: 64, Packet: 64, Senders: timed.SetOf(1)}
	require.Equal(t, uint64(1<<20/64), run.window(0), "nothing is known")
	require.Equal(t, uint64(1<<20/64), run.window(64<<20))
	require.Equal(t, uint64(1<<20/charged(64)), run.window(1<<20))
	run.Senders.Add(2)
	require.Equal(t, uint64(1<<20/charged(64)), run.window(1<<20), "each has one to listen to")
	run.Senders.Add(3)
	require.Equal(t, uint64(1<<20/charged(64)/2), run.window(1<<20))
	require.Equal(t, uint64(1), run.window(1), "a sender that may send nothing measures nothing")
}

// A packet that was given up and arrives later does not free room twice.
func TestFloorTakesLateNews(t *testing.T) {
	f := &floorChild{self: 1, run: &floorRun{Number: 7}, number: 100, window: 50}
	f.peers = []*floorPeer{{id: 2, acked: 40, missed: 60}}
	f.count.Lost = 60
	require.Equal(t, uint64(50), f.room())
	news := make([]byte, floorHead)
	(&floorChild{self: 2, run: f.run}).put(news, floorCredit, 70)
	f.take([]udp.Packet{{Buf: news, N: len(news)}})
	require.Equal(t, uint64(30), f.count.Lost)
	require.Equal(t, uint64(50), f.room())
	f.number += 50
	require.Zero(t, f.room())
}
