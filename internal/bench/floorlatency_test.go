package bench

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/udp"
	"github.com/failaware/failaware/timed"
)

func TestFloorLatency(t *testing.T) {
	if testing.Short() {
		t.Skip("several runs of several processes")
	}
	if err := new(usage).ofProcess(); err != nil {
		t.Skip(err)
	}
	for _, all := range []bool{false, true} {
		for i := range 4 {
			opt := floorOptions{Members: 2 + i/2, Size: []int{64, 3000}[i%2], All: all, Packet: 1200, Launch: launcher(t)}
			var c FloorLatency
			patiently(&opt.For, func() bool {
				var err error
				c, err = measureFloorLatency(t.Context(), opt, 200)
				require.NoError(t, err)
				return c.Latency.Count > 0
			})
			require.Equal(t, opt.Members, c.Members)
			require.Equal(t, opt.Size, c.Size)
			require.Equal(t, []int{64, 1200}[i%2], c.Packet)
			if all {
				require.Equal(t, c.Members, c.Senders)
			} else {
				require.Equal(t, 1, c.Senders)
			}
			require.Positive(t, c.Latency.Count)
			require.LessOrEqual(t, c.Latency.Count+c.Missing, int(220*opt.For.Seconds())+c.Senders, "that many are due from Begin to End, of all senders together")
			require.Positive(t, c.Latency.Min, "no message arrives before it is sent")
		}
	}
}

// A message has arrived when the last receiver has all of it; its sender has it at
// once.
func TestFloorLatencyIsThatOfTheSlowestMember(t *testing.T) {
	run := &floorRun{Size: 100, Packet: 1000, Senders: timed.SetOf(1)}
	l := floorLatency(run, []floorCount{
		{Traces: []castTrace{{1, 0, 10, 10}, {1, 0, 20, 20}}},
		{Traces: []castTrace{{1, 0, 10, 15}, {1, 0, 20, 21}}},
		{Traces: []castTrace{{1, 0, 10, 18}}},
	})
	require.Equal(t, FloorLatency{Members: 3, Size: 100, Packet: 1000, Senders: 1, Latency: Summarize([]time.Duration{8}), Missing: 1}, l)
}

// A message of two packets has arrived with the second, and counts if it was sent
// in the measured part of the run.
func TestFloorTracesWholeMessages(t *testing.T) {
	run := &floorRun{Number: 7, Size: 150, Packet: 100, Measured: 1000}
	sender := &floorChild{self: 2, run: run}
	f := &floorChild{self: 1, run: run, sizes: run.sizes(), peers: []*floorPeer{{id: 2}}}
	part := func(kind byte, sent timed.Instant, number uint32) udp.Packet {
		b := make([]byte, 100)
		sender.put(b, kind, uint64(sent))
		binary.BigEndian.PutUint32(b[4:], number)
		return udp.Packet{Buf: b, N: len(b)}
	}
	f.hear([]udp.Packet{part(floorMessage, 999, 7), part(floorMessage, 999, 7)}, 1001)
	f.hear([]udp.Packet{part(floorMessage, 1000, 7), part(floorMessage, 1000, 6), part(floorData, 1000, 7)}, 1002)
	require.Empty(t, f.count.Traces)
	f.hear([]udp.Packet{part(floorMessage, 1000, 7), part(floorMessage, 1010, 7)}, 1011)
	require.Equal(t, []castTrace{{2, 0, 1000, 1011}}, f.count.Traces)
}
