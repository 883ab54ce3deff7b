package reference

import (
	"context"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/internal/ntptest"
	"github.com/failaware/failaware/timed"
)

func hardware(t testing.TB) *hwclock.Clock {
	c, err := hwclock.New()
	require.NoError(t, err)
	return c
}

func serverAt(t testing.TB, addrs ...netip.AddrPort) *server {
	s := newServer(Config{NTP: addrs[0].String()}, hardware(t), timed.LAN().MaxDrift)
	s.addrs, s.looked = addrs, time.Now()
	return s
}

// holdsUTC checks a sample from a server that serves the system clock.
func holdsUTC(t *testing.T, s *server, x *Sample) {
	t.Helper()
	before := time.Now().UnixNano()
	h := s.clock.Now()
	after := time.Now().UnixNano()
	age := int64(h - x.At)
	require.LessOrEqual(t, int64(x.Low), after-age+age/1000)
	require.GreaterOrEqual(t, int64(x.High), before-age-age/1000)
}

func TestSampleContainsUTC(t *testing.T) {
	srv := ntptest.Start(t, ntptest.Behaviour{Leap: 1, Dispersion: time.Millisecond})
	s := serverAt(t, srv.AddrPort())
	x, err := s.poll(t.Context())
	require.NoError(t, err)
	holdsUTC(t, s, &x)
	require.Equal(t, clocksync.LeapInsert, x.Leap)
	require.Equal(t, 1, x.Stratum)
	require.Equal(t, srv.Addr(), x.Address)
	require.GreaterOrEqual(t, x.Distance, time.Millisecond, "the server rounds its dispersion")
	require.LessOrEqual(t, x.High.Sub(x.Low), 2*x.Distance+x.Delay+time.Millisecond)
	again, err := s.poll(t.Context())
	require.NoError(t, err)
	require.Equal(t, x.Source, again.Source)
}

func TestRealServer(t *testing.T) {
	s := serverAt(t, netip.MustParseAddrPort(ntptest.Chronyd(t)))
	x, err := s.poll(t.Context())
	require.NoError(t, err)
	holdsUTC(t, s, &x)
}

// A clock that is set to the next era shows a time of more than a century ago.
func TestTimesBeforeTheProgramAreRejected(t *testing.T) {
	era := time.Duration(1<<32) * time.Second
	server := ntptest.Start(t, ntptest.Behaviour{Shift: 83*365*24*time.Hour - era}) // in 2109
	_, err := serverAt(t, server.AddrPort()).poll(t.Context())
	require.True(t, isRejected(err), err)
	require.ErrorContains(t, err, "before 2025")
}

func TestUnusableAnswersAreRejected(t *testing.T) {
	for name, c := range map[string]struct {
		how  ntptest.Behaviour
		says string
	}{
		"not synchronized": {ntptest.Behaviour{Leap: 3}, "leap"},
		"large dispersion": {ntptest.Behaviour{Dispersion: 20 * time.Second}, "dispersion"},
		"kiss of death":    {ntptest.Behaviour{Kiss: "INIT"}, `kiss of death "INIT"`},
		"hostile kiss":     {ntptest.Behaviour{Kiss: "\x1b[2J"}, `kiss of death ""`},
	} {
		s := serverAt(t, ntptest.Start(t, c.how).AddrPort())
		_, err := s.poll(t.Context())
		require.True(t, isRejected(err), name)
		require.Contains(t, strings.ToLower(err.Error()), strings.ToLower(c.says), name)
	}
}

func TestKissesAreObeyed(t *testing.T) {
	slow := serverAt(t, ntptest.Start(t, ntptest.Behaviour{Kiss: "RATE"}).AddrPort())
	_, err := slow.poll(t.Context())
	require.ErrorIs(t, err, errSlow)

	deny, good := ntptest.Start(t, ntptest.Behaviour{Kiss: "DENY"}), ntptest.Start(t, ntptest.Behaviour{})
	s := serverAt(t, deny.AddrPort(), good.AddrPort())
	_, err = s.poll(t.Context())
	require.True(t, isRejected(err))
	x, err := s.poll(t.Context())
	require.NoError(t, err, "the other address")
	require.Equal(t, good.Addr(), x.Address)
	only := serverAt(t, deny.AddrPort())
	_, err = only.poll(t.Context())
	require.True(t, isRejected(err))
	only.looked = time.Time{} // force another lookup
	_, err = only.poll(t.Context())
	require.ErrorIs(t, err, errGone)
	require.Equal(t, 2, deny.Asked(), "it is not polled again")
	only.refused[deny.AddrPort()] = time.Now().Add(-deniedFor)
	_, err = only.poll(t.Context())
	require.True(t, isRejected(err), "it is, hours later")
	require.Equal(t, 3, deny.Asked())
}

func TestPollTriesNextAddress(t *testing.T) {
	good := ntptest.Start(t, ntptest.Behaviour{})
	s := serverAt(t, netip.MustParseAddrPort("127.0.0.1:9"), good.AddrPort()) // port 9 refuses immediately
	var err error
	var x Sample
	for range failuresToMove {
		_, err = s.poll(t.Context())
		require.Error(t, err)
	}
	x, err = s.poll(t.Context())
	require.NoError(t, err)
	require.Equal(t, good.Addr(), x.Address)
}

func TestPollObeysContext(t *testing.T) {
	s := serverAt(t, ntptest.Start(t, ntptest.Behaviour{Silent: true}).AddrPort())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.poll(ctx)
	require.Error(t, err)
}

func TestIdentities(t *testing.T) {
	id := func(s string) clocksync.SourceID { return identifyServer(netip.MustParseAddrPort(s)) }
	require.Equal(t, id("192.0.2.1:123"), id("[::ffff:192.0.2.1]:123"), "one address in two forms")
	require.NotEqual(t, id("192.0.2.1:123"), id("192.0.2.2:123"))
	require.NotEqual(t, id("192.0.2.1:123"), id("192.0.2.1:124"))
	require.NotEmpty(t, machine())
	for _, local := range []string{"127.0.0.1:123", "[::1]:123", "169.254.7.7:123", "[fe80::7]:123"} {
		require.Equal(t, identify("ntp", local+" at "+machine()), id(local), "another machine has another server there")
	}
}

func TestServerNames(t *testing.T) {
	for in, want := range map[string][2]string{
		"ntp.example.com":     {"ntp.example.com", "123"},
		"ntp.example.com:124": {"ntp.example.com", "124"},
		"192.0.2.1":           {"192.0.2.1", "123"},
		"2001:db8::1":         {"2001:db8::1", "123"},
		"[2001:db8::1]":       {"2001:db8::1", "123"},
		"[2001:db8::1]:124":   {"2001:db8::1", "124"},
	} {
		host, port, err := splitServer(in)
		require.NoError(t, err, in)
		require.Equal(t, want, [2]string{host, port}, in)
		require.NoError(t, Config{NTP: in}.Validate(), in)
	}
	for _, in := range []string{"a:b:c", ":", "h:0", "h:70000", "a b"} {
		require.Error(t, Config{NTP: in}.Validate(), in)
	}
}
