package ntpserver

import (
	"hash/maphash"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

func newLimiter(each, all Limit) *limiter {
	return &limiter{each: each, all: all, seed: maphash.MakeSeed()}
}

// passed makes requests from a source at regular intervals and counts the outcomes.
func passed(l *limiter, from netip.Addr, begin timed.Instant, total, every time.Duration) (n, kisses int) {
	for d := time.Duration(0); d < total; d += every {
		switch l.limit(from, begin.Add(d)) {
		case answered:
			n++
		case kissed:
			kisses++
		}
	}
	return n, kisses
}

func sourcesKeepTheirLimit(t testing.TB) {
	l := newLimiter(Limit{8, 32}, Limit{1000, 1000})
	a, b := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	n, kisses := passed(l, a, 0, 10*time.Second, time.Millisecond)
	require.InDelta(t, 32+10*8, n, 2)
	require.InDelta(t, 4, kisses, 1, "one in two seconds after the burst")
	n, kisses = passed(l, b, timed.Instant(10*time.Second), 10*time.Second, 125*time.Millisecond)
	require.Equal(t, 80, n, "another source at the allowed rate")
	require.Zero(t, kisses)
	n, _ = passed(l, a, timed.Instant(30*time.Second), time.Millisecond, 10*time.Microsecond)
	require.Equal(t, 32, n, "a whole burst after a rest")
}

func TestSourcesKeepTheirLimit(t *testing.T) { sourcesKeepTheirLimit(t) }

func TestTotalLimit(t *testing.T) {
	l := newLimiter(Limit{8, 32}, Limit{100, 10})
	answers := 0
	for i := range 100_000 { // a forged address each, in ten seconds
		from := netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)})
		if l.limit(from, timed.Instant(i)*timed.Instant(100*time.Microsecond)).sends() {
			answers++
		}
	}
	require.InDelta(t, 10+10*100, answers, 2)
}

func TestIPv6NetworkIsOneSource(t *testing.T) {
	l := newLimiter(Limit{1, 5}, Limit{1000, 1000})
	n := 0
	for i := range 100 {
		if l.limit(netip.AddrFrom16([16]byte{0x20, 1, 15: byte(i)}), 0) == answered {
			n++
		}
	}
	require.Equal(t, 5, n)
	require.Equal(t, answered, l.limit(netip.MustParseAddr("2001:0:0:1::1"), 0))
	require.Equal(t, prefixOf(netip.MustParseAddr("192.0.2.1")), prefixOf(netip.MustParseAddr("::ffff:192.0.2.1")))
	require.Equal(t, prefixOf(netip.MustParseAddr("fe80::1")), prefixOf(netip.MustParseAddr("fe80::2%eth0")))
}

// A source beyond its limit stays limited while a moderate number of others arrives:
// these evict sources with emptier buckets.
func TestLimitedSourcesAreNotEvictedFirst(t *testing.T) {
	l := newLimiter(Limit{1, 10}, Limit{maxPerSecond, maxBurst})
	greedy := netip.MustParseAddr("192.0.2.1")
	for range 20 {
		l.limit(greedy, 0)
	}
	for i := range 4 * sets * ways {
		l.limit(netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}), 0)
	}
	require.NotEqual(t, answered, l.limit(greedy, 0))
}

// kissesCount requires that answers of all kinds count in the total limit.
func kissesCount(t testing.TB) {
	l := newLimiter(Limit{1, 1}, Limit{1, 3})
	a, b := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	for _, x := range []struct {
		from netip.Addr
		want outcome
	}{{a, answered}, {a, kissed}, {b, answered}, {b, limitedSource}} {
		require.Equal(t, x.want, l.limit(x.from, 0))
	}
}

func TestKissesCountInTheTotal(t *testing.T) { kissesCount(t) }

// emptiestGoes has a new source come into a set of others: the one with the emptiest bucket makes room,
// wherever it stands.
func emptiestGoes(t testing.TB) {
	for emptiest := range ways {
		l := newLimiter(Limit{1, 10}, Limit{1000, 1000})
		from := netip.MustParseAddr("192.0.2.1")
		set := &l.table[maphash.Comparable(l.seed, prefixOf(from))%sets]
		for i := range set {
			a := netip.AddrFrom4([4]byte{10, 0, 0, byte(i)})
			set[i] = source{prefix: prefixOf(a), bucket: bucket(9 - i)}
		}
		set[emptiest].bucket = 1
		gone := set[emptiest].prefix
		require.Same(t, &set[emptiest], l.find(from, 0))
		require.NotEqual(t, gone, set[emptiest].prefix)
	}
}

func TestTheEmptiestSourceMakesRoom(t *testing.T) { emptiestGoes(t) }
