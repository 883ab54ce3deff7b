package ntpserver

import (
	"errors"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/beevik/ntp"
	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/clocksync/serve"
)

// offset is the difference between the served time and this machine's time. It
// exposes clients that use their own clock.
const offset = 250 * time.Millisecond

func fake(bound time.Duration, external bool) serve.Source {
	return func() serve.Answer {
		return serve.Answer{Time: clocksync.Time(time.Now().Add(offset).UnixNano()), Bound: bound, External: external}
	}
}

func listen(t *testing.T, source serve.Source, opts Options) *Server {
	t.Helper()
	s, err := Listen("127.0.0.1:0", source, opts)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func query(t *testing.T, s *Server, version int) *ntp.Response {
	t.Helper()
	r, err := ntp.QueryWithOptions(s.Addr().String(), ntp.QueryOptions{Version: version, Timeout: time.Minute})
	require.NoError(t, err)
	return r
}

func TestClientAcceptsExternalTime(t *testing.T) {
	s := listen(t, fake(3*time.Millisecond, true), Options{Stratum: 2, ReferenceID: 0x01020304})
	for _, version := range []int{3, 4} {
		r := query(t, s, version)
		require.NoError(t, r.Validate())
		require.Equal(t, version, r.Version)
		require.Equal(t, uint8(2), r.Stratum)
		require.Equal(t, uint32(0x01020304), r.ReferenceID)
		require.Equal(t, ntp.LeapNoWarning, r.Leap)
		require.Greater(t, r.RootDispersion, 3*time.Millisecond)
		require.Less(t, r.RootDispersion, 3*time.Millisecond+20*time.Microsecond)
		require.InDelta(t, offset, r.ClockOffset, float64(r.RTT/2+time.Millisecond))
	}
	require.Equal(t, Stats{Requests: 2, Answered: 2}, s.Stats())
}

func TestClientRefusesUnsynchronizedServer(t *testing.T) {
	s := listen(t, fake(3*time.Millisecond, false), Options{})
	r := query(t, s, 4)
	require.ErrorIs(t, r.Validate(), ntp.ErrInvalidStratum)
	require.Equal(t, ntp.LeapNotInSync, r.Leap)
	require.Equal(t, Stats{Requests: 1, Unsynchronized: 1}, s.Stats())
}

func TestRateLimitedClientGetsOneKiss(t *testing.T) {
	s := listen(t, fake(1, true), Options{PerSource: Limit{PerSecond: 1, Burst: 3}})
	answered := 0
	for query(t, s, 4).KissCode != "RATE" { // requests may be seconds apart on a busy machine
		answered++
	}
	require.GreaterOrEqual(t, answered, 3)
	require.Equal(t, Stats{Requests: uint64(answered) + 1, Answered: uint64(answered), Kisses: 1}, s.Stats())
}

func TestFloodStaysWithinLimits(t *testing.T) {
	s := listen(t, fake(1, true), Options{PerSource: Limit{PerSecond: 1, Burst: 50}, Total: Limit{PerSecond: 1000, Burst: 100}})
	conn, err := net.Dial("udp", s.Addr().String())
	require.NoError(t, err)
	defer conn.Close()
	begin := time.Now()
	const packets = 20_000
	for i := range packets {
		b := ask(4, 3)
		switch i % 8 {
		case 1:
			b = b[:i%48]
		case 2:
			b = append(b, make([]byte, i%1000+1)...)
		case 3:
			b = ask(4, 4)
		case 4:
			b = ask(2, 6)
		case 5:
			b = ask(1, 3)
		}
		_, err := conn.Write(b)
		if errors.Is(err, syscall.ENOBUFS) {
			continue
		}
		require.NoError(t, err)
	}
	// The server answers, so it has processed all earlier packets.
	other, err := net.DialUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 9)}, net.UDPAddrFromAddrPort(s.Addr()))
	require.NoError(t, err)
	defer other.Close()
	answer := make([]byte, 100)
	for n := 0; n == 0; { // a full buffer may lose the request
		_, err = other.Write(ask(4, 3))
		require.NoError(t, err)
		require.NoError(t, other.SetReadDeadline(time.Now().Add(time.Second)))
		n, _ = other.Read(answer)
	}
	took := time.Since(begin)
	stats := s.Stats()
	require.LessOrEqual(t, stats.Answered+stats.Kisses, uint64(50+50+3*int(took/time.Second+2)))
	require.Positive(t, stats.LimitedSource)
	require.Positive(t, stats.BadLength)
	require.Positive(t, stats.BadMode)
	require.Positive(t, stats.BadVersion)
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(100*time.Millisecond)))
	bytes, answers := 0, uint64(0)
	for {
		n, err := conn.Read(answer)
		if err != nil {
			break
		}
		bytes, answers = bytes+n, answers+1
	}
	require.LessOrEqual(t, answers, stats.Answered+stats.Kisses)
	require.Equal(t, int(answers)*48, bytes)
}

func TestCloseFreesAddress(t *testing.T) {
	s, err := Listen("127.0.0.1:0", fake(1, true), Options{})
	require.NoError(t, err)
	_, err = Listen(s.Addr().String(), fake(1, true), Options{})
	require.ErrorIs(t, err, syscall.EADDRINUSE)
	query(t, s, 4)
	require.NoError(t, s.Close())
	require.NoError(t, s.Close())
	<-s.Done()
	again, err := Listen(s.Addr().String(), fake(1, true), Options{})
	require.NoError(t, err)
	require.NoError(t, again.Close())
}

func TestOptionErrors(t *testing.T) {
	for want, opts := range map[string]Options{
		"Stratum: 16 is outside":                       {Stratum: 16},
		"PerSource.PerSecond: -1 is outside":           {PerSource: Limit{PerSecond: -1, Burst: 1}},
		"PerSource.Burst: 0 is outside":                {PerSource: Limit{PerSecond: 1}},
		"Total.PerSecond: 1000001 is outside":          {Total: Limit{PerSecond: maxPerSecond + 1, Burst: 1}},
		"Total.Burst: 1000001 is outside [1, 1000000]": {Total: Limit{PerSecond: 1, Burst: maxBurst + 1}},
	} {
		_, err := Listen("127.0.0.1:0", fake(1, true), opts)
		require.ErrorContains(t, err, want)
	}
	_, err := Listen("nonsense", fake(1, true), Options{})
	require.ErrorContains(t, err, `"nonsense"`)
}

// Each counter counts one outcome, and the requests are those that are well-formed.
func TestEveryOutcomeIsCounted(t *testing.T) {
	s := listen(t, fake(time.Millisecond, true), Options{})
	for o := range outcomes {
		s.count[o].Store(1 << o)
	}
	require.Equal(t, Stats{Requests: 1<<badLength - 1, Answered: 1 << answered, Unsynchronized: 1 << unsynchronized, Kisses: 1 << kissed,
		LimitedSource: 1 << limitedSource, LimitedAll: 1 << limitedAll, Stale: 1 << stale,
		BadLength: 1 << badLength, BadVersion: 1 << badVersion, BadMode: 1 << badMode, NotSent: 1 << notSent}, s.Stats())
}
