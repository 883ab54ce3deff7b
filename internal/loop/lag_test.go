package loop

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// lagsAreNamed has members wait for others. Those with no progress for a while are named, each
// with its own time, however the order goes on elsewhere.
func lagsAreNamed(t testing.TB) {
	var l lag
	at := func(s float64) timed.Instant {
		return timed.Instant(time.Hour).Add(time.Duration(s * float64(time.Second)))
	}
	view := membership.ViewID{Sequence: 1, Leader: 1, Boot: 1}
	ack := func(id timed.NodeID, n uint64) broadcast.Wait { return broadcast.Wait{Member: id, At: n} }
	lacks := func(id timed.NodeID, c broadcast.Class, n uint64) broadcast.Wait {
		return broadcast.Wait{Member: id, Kind: broadcast.WaitMessages, Class: c, At: n}
	}
	look := func(s float64, waits ...broadcast.Wait) Lags { return l.note(at(s), 1, view, waits).at(at(s)) }
	require.Empty(t, look(0, ack(3, 7)))
	require.Empty(t, look(1, ack(3, 8)), "it goes on")
	require.Empty(t, look(2, ack(3, 8), ack(2, 9)))
	require.Equal(t, Lags{{Member: 3, For: 2 * time.Second, since: at(1)}}, look(3, ack(3, 8), ack(2, 10)))
	require.Equal(t, Lags{{Member: 3, For: 3 * time.Second, since: at(1)}}, look(4, ack(3, 8), lacks(2, 1, 0), lacks(2, 0, 5), ack(1, 4)))
	all := look(6.4, ack(3, 8), lacks(2, 0, 5), lacks(2, 1, 0), ack(1, 4))
	require.Equal(t, Lags{{Member: 2, Missing: true, For: 2400 * time.Millisecond, since: at(4)},
		{Member: 1, Self: true, For: 2400 * time.Millisecond, since: at(4)}, {Member: 3, For: 5400 * time.Millisecond, since: at(1)}}, all)
	require.Equal(t, 5400*time.Millisecond, all.Longest())
	require.Equal(t, "messages of node 2, which have not come to this node for 2s: large packets are lost on the way; and for node 3, "+
		"without an acknowledgement for 5s: an application or disk is slow there, or large packets are lost between there and this node or another, "+
		"as where MaxPacket is not less than the MTU by 28 bytes, by 48 with IPv6", all.String())
	require.Empty(t, look(7), "nothing waits")
	require.Zero(t, look(8, ack(3, 8)).Longest(), "it is new")
	view.Sequence++
	require.Empty(t, look(10, ack(3, 8)), "so is the view")
	require.Len(t, look(12, ack(3, 8)), 1)
}

func TestMembersThatLagAreNamed(t *testing.T) { lagsAreNamed(t) }

// The log names members that lag when that has lasted for a while, and then once a minute.
func TestLagsAreLoggedNowAndThen(t *testing.T) {
	var l lag
	now := timed.Instant(time.Hour)
	of := func(d time.Duration) Lags { return Lags{{Member: 2, For: d}} }
	require.False(t, l.warns(now, nil))
	require.False(t, l.warns(now, of(warnAfter-1)))
	require.True(t, l.warns(now, of(warnAfter)))
	require.False(t, l.warns(now.Add(lagPeriod-1), of(time.Minute)))
	require.True(t, l.warns(now.Add(lagPeriod), of(2*time.Minute)))
}

func TestTextsOfLags(t *testing.T) {
	const tail = ", as where --max-packet is not less than the MTU by 28 bytes, by 48 with IPv6"
	for want, l := range map[string]Lags{
		"": nil,
		"this node itself, without an acknowledgement for 3s: its application or disk is slow":                       {{Member: 1, Self: true, For: 3 * time.Second}},
		"messages of nodes {2 3}, which have not come to this node for 4s: large packets are lost on the way" + tail: {{Member: 2, Missing: true, For: 4 * time.Second}, {Member: 3, Missing: true, For: 2 * time.Second}, {Member: 1, Self: true, For: time.Second}},
		"nodes {1 2}, without an acknowledgement for 3s: an application or disk is slow there, or large packets are lost between there and this node or another" + tail: {
			{Member: 1, Self: true, For: 2 * time.Second}, {Member: 2, For: 3 * time.Second}},
	} {
		require.Equal(t, want, l.Text("--max-packet"))
	}
}

// looksAtLags has a loop with the broadcast look now and then, and forget with its incarnation.
func looksAtLags(t testing.TB) {
	l, c := newTestLoop(t)
	d := l.driver
	require.Empty(t, l.Lags(c.instant()))
	d.l.lags.Store(&Lags{{Member: 2, since: c.instant()}})
	c.advance(time.Second / 2)
	require.Equal(t, time.Second/2, l.Lags(c.instant()).Longest())
	d.lookAtLag()
	require.Len(t, l.Lags(c.instant()), 1, "the next look is not due")
	c.advance(time.Second)
	step(l, c)
	require.Empty(t, l.Lags(c.instant()))
	d.l.lags.Store(&Lags{{Member: 2, since: c.instant()}})
	d.clock.era--
	d.turn(nil, l.cfg.Clock.Read())
	require.Empty(t, l.Lags(c.instant()), "it was of the former incarnation")
}

func TestTheLoopLooksAtLags(t *testing.T) { looksAtLags(t) }
