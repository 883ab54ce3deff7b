package reference

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/ntptest"
)

// Only failures in a row count: a server that answers again stays.
func failuresInARow(t testing.TB) {
	good := ntptest.Start(t, ntptest.Behaviour{})
	s := serverAt(t, good.AddrPort(), netip.MustParseAddrPort("127.0.0.1:9"))
	for range 4 {
		s.failures += failuresToMove - 1
		x, err := s.poll(t.Context())
		require.NoError(t, err)
		require.Equal(t, good.Addr(), x.Address)
		require.Zero(t, s.failures)
	}
}

func TestAnAnswerEndsARowOfFailures(t *testing.T) { failuresInARow(t) }

// When no address has answered, the name is looked up once, and each address gets its tries again.
func lookupBeginsARow(t testing.TB) {
	s := serverAt(t, netip.MustParseAddrPort("127.0.0.1:9"))
	for range failuresToMove {
		_, err := s.poll(t.Context())
		require.Error(t, err)
	}
	_, err := s.poll(t.Context())
	require.Error(t, err)
	require.Equal(t, 1, s.failures)
	looked := s.looked
	_, _ = s.poll(t.Context())
	require.Equal(t, looked, s.looked, "the name is not looked up at each poll")
}

func TestALookupBeginsANewRowOfFailures(t *testing.T) { lookupBeginsARow(t) }

// Each address gets its tries: a lost answer does not move on from one that was just moved to.
func everyAddressGetsItsTries(t testing.TB) {
	s := serverAt(t, netip.MustParseAddrPort("127.0.0.1:9"), netip.MustParseAddrPort("127.0.0.2:9"), netip.MustParseAddrPort("127.0.0.3:9"))
	for n := range failuresToMove * len(s.addrs) {
		require.Equal(t, n/failuresToMove, s.at, "after %d failures", n)
		_, err := s.poll(t.Context())
		require.Error(t, err)
	}
}

func TestEveryAddressGetsItsTries(t *testing.T) { everyAddressGetsItsTries(t) }
