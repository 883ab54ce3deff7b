package ntpserver

import (
	"encoding/binary"
	"math/big"
	"testing"
	"time"

	protocol "github.com/facebook/time/ntp/protocol"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/clocksync/serve"
	"github.com/failaware/failaware/timed"
)

// ask returns a request of 48 bytes.
func ask(version, mode uint8) []byte {
	p := protocol.Packet{Settings: version<<3 | mode, Poll: 6, TxTimeSec: 0x01020304, TxTimeFrac: 0x05060708}
	b, _ := p.Bytes()
	return b
}

func onlyClientsAreAnswered(t testing.TB) {
	for version := range uint8(8) {
		for mode := range uint8(8) {
			_, v := parse(ask(version, mode))
			switch {
			case mode != 3:
				require.Equal(t, badMode, v, "version %d, mode %d", version, mode)
			case version != 3 && version != 4:
				require.Equal(t, badVersion, v, "version %d", version)
			default:
				require.Equal(t, answered, v)
			}
		}
	}
	for _, n := range []int{0, 1, 12, 47, 49, 52, 68, 72, 1000} { // control messages, MACs, extensions
		_, v := parse(append(ask(4, 3), make([]byte, 1000)...)[:n])
		require.Equal(t, badLength, v, "%d bytes", n)
	}
}

func TestOnlyClientRequestsAreAnswered(t *testing.T) { onlyClientsAreAnswered(t) }

// exactly converts units of 2⁻¹⁶ s to nanoseconds.
func exactly(units uint32) *big.Rat { return big.NewRat(int64(units)*nanos, 1<<16) }

func dispersionCoversTheBound(t testing.TB) {
	check := func(bound time.Duration) {
		id := identity{stratum: 4}
		var p protocol.Packet
		ok := id.answer(&p, &request{version: 4}, serve.Answer{Time: 1, Bound: bound, External: true}, 0)
		const most = (1<<32 - 1) * nanos >> 16
		require.Equal(t, bound < most, ok, "%v", bound)
		if ok {
			require.Positive(t, exactly(p.RootDispersion).Cmp(big.NewRat(int64(bound), 1)), "%v in %d units", bound, p.RootDispersion)
			require.Negative(t, exactly(p.RootDispersion-1).Cmp(big.NewRat(int64(bound)+1, 1)), "%v in %d units: no more than needed", bound, p.RootDispersion)
		}
	}
	for _, bound := range []time.Duration{0, 1, 15_258, 15_259, time.Second, 65535 * time.Second, 65536 * time.Second,
		65537 * time.Second, clocksync.UnknownBound - 1} {
		check(bound)
	}
	for bound := time.Duration(7); bound < 70_000*time.Second; bound = bound*3/2 + 1 {
		check(bound)
	}
}

func TestDispersionIsAtLeastTheBound(t *testing.T) { dispersionCoversTheBound(t) }

func onlyExternalIsSynchronized(t testing.TB) {
	id := identity{stratum: 2, precision: -20, referenceID: 99}
	r := request{version: 3, poll: 9, sentSec: 5, sentFrac: 6}
	for name, a := range map[string]serve.Answer{
		"internal":       {Time: 1, Bound: 5},
		"no bound":       {Time: 1, Bound: clocksync.UnknownBound, External: true},
		"negative bound": {Time: 1, Bound: -1, External: true},
		"huge bound":     {Time: 1, Bound: 19 * time.Hour, External: true},
		"unknown":        {Bound: clocksync.UnknownBound},
		"zero":           {},
	} {
		var p protocol.Packet
		require.False(t, id.answer(&p, &r, a, 0), name)
		require.Equal(t, uint8(3<<6|3<<3|4), p.Settings, name)
		require.Equal(t, uint8(16), p.Stratum, name)
		require.Equal(t, uint32(1<<32-1), p.RootDispersion, name)
	}
	var p protocol.Packet
	require.True(t, id.answer(&p, &r, serve.Answer{Time: 1, Bound: 5, External: true, Leap: clocksync.LeapDelete}, 0))
	require.Equal(t, protocol.Packet{Settings: 2<<6 | 3<<3 | 4, Stratum: 2, Poll: 9, Precision: -20, RootDispersion: 1, ReferenceID: 99,
		RefTimeSec: epochToUnix, OrigTimeSec: 5, OrigTimeFrac: 6, RxTimeSec: epochToUnix, RxTimeFrac: 4, TxTimeSec: epochToUnix, TxTimeFrac: 4}, p)
}

func TestOnlyExternalIsSynchronized(t *testing.T) { onlyExternalIsSynchronized(t) }

// read returns the exact value of a timestamp in nanoseconds since 1970.
func read(sec, frac uint32, era int64) *big.Rat {
	s := new(big.Rat).SetInt64((era<<32 + int64(sec) - epochToUnix) * nanos)
	return s.Add(s, big.NewRat(int64(frac)*nanos, 1<<32))
}

func TestTimestampsAreWithinBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const year = 365 * 24 * int64(time.Hour)
		now := rapid.Int64Range(-60*year, 90*year).Draw(t, "UTC")
		waited := time.Duration(rapid.Int64Range(0, int64(maxWait)).Draw(t, "waited"))
		bound := time.Duration(rapid.Int64Range(0, int64(time.Second)).Draw(t, "bound"))
		off := rapid.Int64Range(-int64(bound), int64(bound)).Draw(t, "error")
		rho := rapid.Int64Range(-int64(timed.MaxDrift), int64(timed.MaxDrift)).Draw(t, "rate")
		var p protocol.Packet
		id := identity{stratum: 4}
		a := serve.Answer{Time: clocksync.Time(now + off), Bound: bound, External: true}
		require.True(t, id.answer(&p, &request{version: 4}, a, waited))

		era := (int64(a.Time)/nanos + epochToUnix) >> 32
		if int64(a.Time) < 0 && int64(a.Time)%nanos != 0 {
			era = (int64(a.Time)/nanos - 1 + epochToUnix) >> 32
		}
		dispersion := exactly(p.RootDispersion)
		left, departed := read(p.TxTimeSec, p.TxTimeFrac, era), big.NewRat(now, 1)
		require.LessOrEqual(t, new(big.Rat).Sub(left, dispersion).Cmp(departed), 0, "transmit timestamp")
		if p.RxTimeSec > p.TxTimeSec {
			era--
		}
		got := read(p.RxTimeSec, p.RxTimeFrac, era)
		truth := big.NewRat(now-int64(waited)-int64(waited)*rho/nanos, 1)
		require.GreaterOrEqual(t, new(big.Rat).Add(got, dispersion).Cmp(truth), 0, "receive timestamp")
		require.LessOrEqual(t, got.Cmp(left), 0)
	})
}

func FuzzAnswer(f *testing.F) {
	for version := range uint8(6) {
		for mode := range uint8(8) {
			f.Add(ask(version, mode), int64(1), int64(5), uint8(3))
		}
	}
	patient := ask(4, 3)
	patient[2] = 10
	f.Add(patient, int64(1), int64(5), uint8(3))
	hasty := ask(4, 3)
	hasty[2] = 1
	f.Add(hasty, int64(1), int64(5), uint8(3))
	f.Add(append(ask(4, 3), make([]byte, 20)...), int64(-1), int64(1)<<62, uint8(0))
	f.Fuzz(func(t *testing.T, b []byte, now, bound int64, flags uint8) {
		r, v := parse(b)
		if v != answered {
			return
		}
		require.Len(t, b, 48)
		require.Equal(t, uint8(3), b[0]&7)
		var p protocol.Packet
		id := identity{stratum: 4, precision: -20}
		ok := id.answer(&p, &r, serve.Answer{Time: clocksync.Time(now), Bound: time.Duration(bound), External: flags&1 != 0, Leap: clocksync.Leap(flags >> 1)}, 0)
		out, err := p.Bytes()
		require.NoError(t, err)
		require.Len(t, out, 48, "as long as the request")
		require.Equal(t, b[40:48], out[24:32], "origin timestamp")
		require.Equal(t, b[0]>>3&7, out[0]>>3&7)
		require.Equal(t, uint8(4), out[0]&7)
		require.True(t, ok || out[0]>>6 == 3 && out[1] == 16)
		require.True(t, !ok || flags&1 != 0 && bound >= 0 && binary.BigEndian.Uint32(out[8:12]) >= uint32(bound/15_259))
		id.kiss(&p, &r)
		out, err = p.Bytes()
		require.NoError(t, err)
		require.Equal(t, "RATE", string(out[12:16]))
		require.Zero(t, out[1])
		require.GreaterOrEqual(t, int8(out[2]), max(kissPoll, clampPoll(r.poll)), "nobody is told to ask more often")
		require.Equal(t, b[40:48], out[24:32])
	})
}

func TestPrecision(t *testing.T) {
	for step, want := range map[time.Duration]int8{1: -29, 30: -24, 120: -22, 1000: -19, time.Microsecond * 500: -10} {
		now := timed.Instant(0)
		got := precision(func() timed.Instant { now = now.Add(step); return now })
		require.Equal(t, want, got, "%v", step)
	}
}
