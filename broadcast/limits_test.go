package broadcast

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/clocksync"
)

// packetsStayInLimits demands that no packet has longer lists than there may be, although it
// has room for them: messages of alternating orders are runs of one each, and a member asks for
// many gaps at once.
func packetsStayInLimits(t testing.TB) {
	g := newTrio(2, Config{PacketBytes: MaxPacketBytes})
	most, full := 0, 0
	g.drop = func(_, _ int, p *Packet) bool {
		if most = max(most, len(p.Runs)); len(p.Runs) == MostRuns {
			full++
		}
		return false
	}
	const messages = 4 * MostRuns
	for i := range messages {
		order := [...]Options{{Order: TotalOrder}, {Order: TimedOrder}}[i%2]
		_, err := g.cast(1, nil, order)
		require.NoError(t, err)
	}
	g.run(time.Second)
	require.Equal(t, []int{messages, messages}, g.count)
	require.LessOrEqual(t, most, MostRuns)
	require.Positive(t, full)

	s := g.nodes[0]
	var out []Effect
	s.requests = make([]*Packet, len(s.members))
	for range 3 * MostWants / maxWants {
		var p *Packet
		p, out = s.request(1, clocksync.Reading{}, out)
		p.Wants = append(p.Wants, make([]Want, maxWants)...)
	}
	require.Len(t, out, 3)
	for _, e := range out {
		require.LessOrEqual(t, len(e.Packet.Wants), MostWants)
	}
}

func TestPacketsStayInLimits(t *testing.T) { packetsStayInLimits(t) }
