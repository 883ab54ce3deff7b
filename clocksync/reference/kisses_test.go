package reference

import (
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/ntptest"
)

// A server that restricts is not asked again, like one that denies.
func restrictionIsObeyed(t testing.TB) {
	restricts, good := ntptest.Start(t, ntptest.Behaviour{Kiss: "RSTR"}), ntptest.Start(t, ntptest.Behaviour{})
	s := serverAt(t, restricts.AddrPort(), good.AddrPort())
	_, err := s.poll(t.Context())
	require.True(t, isRejected(err))
	for range 3 {
		x, err := s.poll(t.Context())
		require.NoError(t, err)
		require.Equal(t, good.Addr(), x.Address)
	}
	require.Equal(t, 1, restricts.Asked())
}

func TestARestrictionIsObeyed(t *testing.T) { restrictionIsObeyed(t) }

// Only what a server has answered since it asked to slow down says that it is calm.
func calmAfterTheKiss(t testing.TB) {
	p := New(Config{NTP: "192.0.2.1", Poll: 16 * time.Second}, hardware(t), 0)
	var s Sample
	p.note(&s, errSlow)
	for range calmPolls - 1 {
		p.note(&s, nil)
	}
	p.note(&s, errSlow)
	require.Equal(t, 64*time.Second, p.st.Poll)
	for range 2*calmPolls - 1 {
		p.note(&s, nil)
		require.Equal(t, 64*time.Second, p.st.Poll)
	}
	p.note(&s, nil)
	require.Equal(t, 32*time.Second, p.st.Poll)
}

func TestCalmBeginsAfterTheLastKiss(t *testing.T) { calmAfterTheKiss(t) }

// A name of a pool has ever other addresses. Those that have denied service long ago take no memory.
func oldDenialsGo(t testing.TB) {
	s := serverAt(t, netip.MustParseAddrPort("192.0.2.9:123"))
	old, lately, now := netip.MustParseAddrPort("192.0.2.1:123"), netip.MustParseAddrPort("192.0.2.2:123"), netip.MustParseAddrPort("192.0.2.3:123")
	s.refused[old], s.refused[lately] = time.Now().Add(-deniedFor), time.Now().Add(-deniedFor/2)
	require.True(t, isRejected(s.kissed(now, "DENY")))
	require.Len(t, s.refused, 2)
	require.True(t, s.denies(lately) && s.denies(now))
}

func TestOldDenialsTakeNoMemory(t *testing.T) { oldDenialsGo(t) }
