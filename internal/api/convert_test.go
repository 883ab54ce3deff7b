package api

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/event"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// A clock without further messages stays synchronized for at least the promised time,
// whatever it received before.
func TestSyncedForIsKept(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	said := 0
	for range 5000 {
		rho := timed.Drift(r.Int64N(int64(timed.MaxDrift)))
		slew := r.Int64N(clocksync.MaxSlewLimit) + 1
		extreme := r.IntN(2) == 0 // nothing holds, and everything runs as fast as it may
		if extreme {
			rho, slew = timed.Drift(r.IntN(100)), clocksync.MaxSlewLimit
		}
		most := time.Duration(r.Int64N(int64(100*time.Millisecond))) + 1
		clock := clocksync.New(clocksync.Config{Self: failaware.Incarnation{Node: 2, Boot: 1}, MaxDeviation: most, MaxSlew: slew,
			StepThreshold: time.Hour, Timing: failaware.Timing{MaxDrift: rho}}, 1000, 5)
		shown := clocksync.Time(r.Int64N(int64(most)))
		for i := range clocksync.Time(2) { // the first line steps the clock, the second one slews it
			lo := time.Duration(r.Int64N(int64(most)/4 + 1))
			rate, until := r.Int64N(2*slew+1)-slew, timed.Instant(r.Int64N(1e9))
			if extreme {
				rate, until = slew*(2*r.Int64N(2)-1), 1
			}
			clock.HandleLine(1000, &clocksync.Line{Timeline: clocksync.TimelineID{Leader: 1, Boot: 1, Sequence: 1}, Base: 0, Shown: shown * i,
				Rate: rate, Until: until}, lo, lo+time.Duration(r.Int64N(int64(most)/2+1)), nil)
		}
		now := timed.Instant(1000 + r.Int64N(1e6))
		left := syncedFor(clock.Read(now), most, rho)
		if left == 0 {
			continue
		}
		said++
		for range 5 {
			then := clock.Read(now.Add(time.Duration(r.Int64N(int64(left) + 1))))
			require.Equal(t, clocksync.Internal, then.Status)
		}
		require.Equal(t, clocksync.Internal, clock.Read(now.Add(left)).Status)
	}
	require.Greater(t, said, 1000)
	require.Zero(t, syncedFor(clocksync.Reading{Deviation: 0}, time.Millisecond, 0), "unsynchronized")
	require.Positive(t, syncedFor(clocksync.Reading{Status: clocksync.Internal}, time.Hour, timed.MaxDrift))
}

// Members of the view that the node has never heard are listed too, in their places.
func TestUnheardMembersAreListed(t *testing.T) {
	v := &failaware.View{Set: timed.SetOf(1, 2, 3, 5)}
	for id := range v.Set.All() {
		v.Members = append(v.Members, membership.Member{Incarnation: failaware.Incarnation{Node: id, Boot: 7}})
	}
	s := failaware.Status{ID: 2, View: failaware.ViewAnswer{View: v}, Peers: []failaware.PeerStatus{{ID: 3}, {ID: 4}, {Listed: "host:1"}}}
	var nodes []int
	for _, m := range membersOfNode(&s, &failaware.Config{}) {
		nodes = append(nodes, m.Node)
	}
	require.Equal(t, []int{1, 2, 3, 4, 5, 0}, nodes)
}

// A peer leads only as long as the vote of the node that answers stands behind it.
func TestHearsayLeadsNobody(t *testing.T) {
	s := failaware.Status{ID: 2, View: failaware.ViewAnswer{View: new(failaware.View)}, Peers: []failaware.PeerStatus{{ID: 1}, {ID: 3, Leads: true}}}
	for _, fresh := range []bool{false, true} {
		s.Leader = failaware.LeaderAnswer{Leader: 3, UpToDate: fresh}
		for _, m := range membersOfNode(&s, &failaware.Config{}) {
			require.Equal(t, fresh && m.Node == 3, m.Leads, "node %d", m.Node)
			require.Equal(t, m.Node == 3, m.SaysLeads)
		}
	}
}

// The bound of the two readings of an operation here is that of the worse one.
func TestOperationsHaveTheWorseBound(t *testing.T) {
	for _, x := range [][3]time.Duration{{1, 2, 2}, {2, 1, 2}, {clocksync.UnknownBound, 1, -1}, {1, clocksync.UnknownBound, -1}} {
		var w Delivery
		(&Operation{Ordered: clocksync.Reading{Deviation: x[0]}, Applied: clocksync.Reading{Deviation: x[1]}}).wire(&w)
		if x[2] < 0 {
			require.Nil(t, w.HereDeviationNS)
			continue
		}
		require.EqualValues(t, x[2], *w.HereDeviationNS)
	}
}

// A clock has the fields of its reading, and is up to date with either time.
func TestTheClockOfAReading(t *testing.T) {
	cfg := failaware.Config{Clock: failaware.ClockConfig{MaxDeviation: time.Second}, Timing: failaware.LAN()}
	for status, upToDate := range map[clocksync.Status]bool{clocksync.Unsynchronized: false, clocksync.Internal: true, clocksync.External: true} {
		r := failaware.Reading{Time: 1_000_000_001, Deviation: 2 * time.Millisecond, UTCBound: 3 * time.Millisecond, Status: status, Holdover: true}
		got := clockOf(r, &cfg)
		require.Equal(t, upToDate, got.UpToDate, status)
		require.Equal(t, upToDate, got.ValidForNS > 0, status)
		require.Equal(t, status.String(), got.Status)
		require.True(t, got.Holdover)
		require.EqualValues(t, 1_000_000_001, got.TimeNS)
		require.Equal(t, "1970-01-01T00:00:01.000000001Z", got.Time)
		require.EqualValues(t, 2*time.Millisecond, *got.DeviationNS)
		require.EqualValues(t, 3*time.Millisecond, *got.UTCBoundNS)
		require.Empty(t, got.Problem)
		r.Deviation = time.Second + 1
		if got = clockOf(r, &cfg); !upToDate {
			require.Equal(t, "its deviation is above --max-deviation, 1s", got.Problem)
		}
		r.Deviation, r.UTCBound = clocksync.UnknownBound, clocksync.UnknownBound
		got = clockOf(r, &cfg)
		require.Empty(t, got.Problem)
		require.Nil(t, got.DeviationNS)
		require.Nil(t, got.UTCBoundNS)
	}
}

// The local leader is found without a quorum system, and a global one is not.
func TestWhichLeaderIsFound(t *testing.T) {
	n := startNode(t, failaware.Config{ID: 1})
	s := NewServer(n)
	defer s.Close()
	find := func(ctx context.Context, global bool) (code int, text string) {
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("/v1/leader/find?global=%t", global), nil))
		return w.Code, w.Body.String()
	}
	code, text := find(t.Context(), false)
	require.Equal(t, http.StatusOK, code, text)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	code, text = find(ctx, true)
	require.NotEqual(t, http.StatusOK, code)
	require.Contains(t, text, "global")
}

// A peer whose address another node has is not merely silent.
func TestAnotherNodeAtTheAddressOfAPeerIsNamed(t *testing.T) {
	at, gone := netip.MustParseAddrPort("192.0.2.7:7001"), netip.MustParseAddrPort("192.0.2.8:7001")
	s := failaware.Status{Peers: []failaware.PeerStatus{{ID: 2, Addr: at, Delay: event.UnknownDelay, LastFast: -1}, {ID: 3, Addr: at, Alive: true},
		{ID: 4, Delay: event.UnknownDelay, LastFast: -1}, {ID: 5, Addr: gone, Delay: event.UnknownDelay, LastFast: -1}, {ID: 6, Addr: gone}}}
	require.Equal(t, "node 2: not heard in time yet; node 3 answers at its address, 192.0.2.7:7001", peerText(&s, 2))
	require.NotContains(t, peerText(&s, 3), "its address")
	require.NotContains(t, peerText(&s, 4), "its address")
	require.NotContains(t, peerText(&s, 5), "its address", "nobody answers there")
}
