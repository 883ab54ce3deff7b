package ntpserver

import (
	"hash/maphash"
	"net/netip"
	"testing"
	"time"

	protocol "github.com/facebook/time/ntp/protocol"
	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/clocksync/serve"
	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/internal/udp"
	"github.com/failaware/failaware/timed"
)

// A request that waited is answered for what it waited, and one whose client has given up is
// not answered, and takes nothing from the limits.
func waitsCount(t testing.TB) {
	const now = timed.Instant(time.Hour)
	const utc = 1_000_000 * clocksync.Time(time.Second)
	unanswered := 0
	for waited, want := range map[time.Duration]outcome{-time.Second: answered, 0: answered, 64 * time.Millisecond: answered,
		maxWait: answered, maxWait + 1: stale, time.Hour: stale} {
		s := &Server{clock: hwclock.Of(func() int64 { return int64(now) }), id: identity{stratum: 2},
			source: func() serve.Answer { return serve.Answer{Time: utc, Bound: time.Millisecond, External: true} }}
		s.limits.each, s.limits.all, s.limits.seed = Limit{1, 1}, Limit{1, 1}, maphash.MakeSeed()
		from := netip.MustParseAddrPort("192.0.2.1:123")
		var p protocol.Packet
		got := s.respond(&p, &udp.Packet{Buf: ask(4, 3), N: packetSize, Addr: from, Received: now.Add(-waited)})
		require.Equal(t, want, got, waited)
		if got == stale {
			unanswered++
			require.Equal(t, answered, s.limits.limit(from.Addr(), now))
			continue
		}
		since := max(waited, 0)
		sec, frac := stamp(utc - clocksync.Time(since-since/waitSlack))
		require.Equal(t, [2]uint32{sec, frac}, [2]uint32{p.RxTimeSec, p.RxTimeFrac}, waited)
		sec, frac = stamp(utc)
		require.Equal(t, [2]uint32{sec, frac}, [2]uint32{p.TxTimeSec, p.TxTimeFrac}, waited)
	}
	require.Equal(t, 2, unanswered)
}

func TestRequestsThatWaited(t *testing.T) { waitsCount(t) }

// What passes while the source is read is no part of the wait: taken from the source's time, it
// would make the request arrive too early, and its client's bound too narrow.
func TestASlowSourceMakesNoRequestEarlier(t *testing.T) {
	const arrived = timed.Instant(time.Hour)
	const utc = 1_000_000 * clocksync.Time(time.Second)
	now := arrived
	s := &Server{clock: hwclock.Of(func() int64 { return int64(now) }), id: identity{stratum: 2},
		source: func() serve.Answer {
			now = now.Add(10 * time.Millisecond)
			return serve.Answer{Time: utc, Bound: time.Millisecond, External: true}
		}}
	s.limits.each, s.limits.all, s.limits.seed = Limit{1, 1}, Limit{1, 1}, maphash.MakeSeed()
	var p protocol.Packet
	from := netip.MustParseAddrPort("192.0.2.1:123")
	require.Equal(t, answered, s.respond(&p, &udp.Packet{Buf: ask(4, 3), N: packetSize, Addr: from, Received: arrived}))
	sec, frac := stamp(utc)
	require.Equal(t, [2]uint32{sec, frac}, [2]uint32{p.RxTimeSec, p.RxTimeFrac})
}
