package failaware_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/event"
	"github.com/failaware/failaware/internal/ntptest"
)

// servers start truthful servers: our own small ones, and real ones.
var servers = map[string]func(testing.TB) string{
	"responder": func(t testing.TB) string {
		return ntptest.Start(t, ntptest.Behaviour{Dispersion: 50 * time.Microsecond}).Addr()
	},
	"chronyd": ntptest.Chronyd,
}

func withServers(t *testing.T, test func(*testing.T, func() string)) {
	for name, start := range servers {
		t.Run(name, func(t *testing.T) { test(t, func() string { return start(t) }) })
	}
}

func liarBy(t *testing.T, shift time.Duration) string {
	return ntptest.Start(t, ntptest.Behaviour{Shift: shift, Dispersion: 50 * time.Microsecond}).Addr()
}

func startAsking(t *testing.T, id failaware.NodeID, need int, peers []failaware.Peer, listen string, addrs ...string) *failaware.Node {
	t.Helper()
	cfg := failaware.Config{ID: id, Timing: failaware.LAN(), Listen: listen, Peers: peers,
		Clock: failaware.ClockConfig{MinReferences: need}}
	for _, a := range addrs {
		cfg.References = append(cfg.References, failaware.Reference{NTP: a, Poll: time.Second})
	}
	n, err := failaware.Start(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { _ = n.Close() })
	return n
}

// waitClock waits until a reading is as wanted.
func waitClock(t *testing.T, n *failaware.Node, wanted func(failaware.Reading) bool) failaware.Reading {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		if r := n.Clock(); wanted(r) {
			return r
		}
		select {
		case <-ctx.Done():
			t.Fatalf("in vain; the clock says %+v, its references %+v", n.Clock(), n.References())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func external(r failaware.Reading) bool { return r.Status == clocksync.External }

// holdsUTC checks a reading against the system's clock, which all servers serve.
func holdsUTC(t *testing.T, n *failaware.Node) {
	t.Helper()
	for range 100 {
		before := time.Now().UnixNano()
		r := n.Clock()
		after := time.Now().UnixNano()
		require.LessOrEqual(t, int64(r.Time)-int64(r.UTCBound), after)
		require.GreaterOrEqual(t, int64(r.Time)+int64(r.UTCBound), before)
	}
}

// waitEvent waits for an event.
func waitEvent(t *testing.T, n *failaware.Node, is func(event.Event) bool) event.Event {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for e := range n.EventsSince(ctx, 0) {
		if is(e) {
			return e
		}
	}
	t.Fatal("no such event")
	return nil
}

func TestOneOfThreeServersLies(t *testing.T) {
	withServers(t, func(t *testing.T, start func() string) {
		lies := liarBy(t, 10*time.Second)
		n := startAsking(t, 1, 3, nil, "", start(), lies, start())
		waitClock(t, n, external)
		holdsUTC(t, n)
		e := waitEvent(t, n, func(e event.Event) bool { _, is := e.(event.Falseticker); return is }).(event.Falseticker)
		require.Equal(t, "ntp "+lies, e.Name)
		require.Equal(t, failaware.NodeID(1), e.Node)
		require.InDelta(t, 10, e.Off.Seconds(), 0.5)
		var liars []string
		for _, r := range n.References() {
			require.True(t, r.Known)
			require.NotZero(t, r.Samples)
			if r.Falseticker {
				liars = append(liars, r.Name)
			}
		}
		require.Equal(t, []string{"ntp " + lies}, liars)
		require.Contains(t, e.String(), lies)
	})
}

func TestTwoOfThreeServersLie(t *testing.T) {
	withServers(t, func(t *testing.T, start func() string) {
		n := startAsking(t, 1, 3, nil, "", start(), liarBy(t, 10*time.Second), liarBy(t, -5*time.Second))
		waitEvent(t, n, func(e event.Event) bool {
			u, is := e.(event.UTCChanged)
			return is && u.State == clocksync.UTCDisputed
		})
		r := waitClock(t, n, func(r failaware.Reading) bool { return r.Status == clocksync.Internal })
		require.Equal(t, clocksync.UnknownBound, r.UTCBound)
	})
}

func TestOneNodeBringsTheOthersToUTC(t *testing.T) {
	withServers(t, func(t *testing.T, start func() string) {
		const asks = 4
		var peers []failaware.Peer
		var nodes []*failaware.Node
		for id := failaware.NodeID(1); id <= 5; id++ {
			var addrs []string
			if id == asks {
				addrs = []string{start(), start(), start()}
			}
			n := startAsking(t, id, 3, peers, "127.0.0.1:0", addrs...)
			nodes = append(nodes, n)
			peers = append(peers, failaware.Peer{ID: id, Addr: n.Addr().String()})
		}
		for _, n := range nodes {
			waitClock(t, n, external)
			holdsUTC(t, n)
		}
		for _, n := range nodes {
			if n.Leads() && n.ID() != asks {
				list := n.References()
				require.Len(t, list, 3, "the leader knows them all")
				for _, r := range list {
					require.Equal(t, failaware.NodeID(asks), r.Node)
				}
			}
		}
	})
}

func TestCommitWait(t *testing.T) {
	addr := ntptest.Start(t, ntptest.Behaviour{}).Addr()
	n := startAsking(t, 1, 1, nil, "", addr)
	r := waitClock(t, n, external)
	require.NoError(t, n.CommitWait(t.Context(), r))
	order, err := clocksync.Order(r, n.Clock())
	require.NoError(t, err)
	require.Equal(t, clocksync.Earlier, order)
	unbound := r
	unbound.Deviation = clocksync.UnknownBound
	require.ErrorContains(t, n.CommitWait(t.Context(), unbound), "has no bound")
	ahead := n.Clock()
	ahead.Time += failaware.GroupTime(time.Hour)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, n.CommitWait(ctx, ahead), context.DeadlineExceeded)
	other := n.Clock()
	other.Timeline.Sequence += 100
	other.Status = clocksync.Internal
	require.ErrorIs(t, n.CommitWait(t.Context(), other), failaware.ErrTimelineChanged)
	other = n.Clock()
	other.Time += failaware.GroupTime(time.Hour)
	require.NoError(t, n.Close())
	require.ErrorIs(t, n.CommitWait(t.Context(), other), failaware.ErrClosed)
}

func TestBadReferencesAreNamed(t *testing.T) {
	twice := failaware.Reference{NTP: "192.0.2.1"}
	for i, c := range []struct {
		list []failaware.Reference
		says string
	}{
		{[]failaware.Reference{{}}, "References[0]"},
		{[]failaware.Reference{{NTP: "h", KernelClock: true}}, "exactly one"},
		{[]failaware.Reference{twice, twice}, "References[1] (ntp 192.0.2.1): References[0] is the same"},
		{[]failaware.Reference{{NTP: "192.0.2.1:http"}}, "port"},
		{[]failaware.Reference{{NTP: ":123"}}, "host"},
		{[]failaware.Reference{{NTP: "h", Poll: time.Millisecond}}, "Poll"},
		{[]failaware.Reference{{NTP: "h", Error: 1}}, "require a PHC"},
		{[]failaware.Reference{{PHC: "/dev/ptp0", Offset: 2 * time.Hour}}, "Offset"},
		{[]failaware.Reference{{PHC: "/dev/ptp0", Error: time.Hour}}, "Error"},
		{make([]failaware.Reference, 17), "17 are more than 16"},
	} {
		_, err := failaware.Config{ID: 1, References: c.list}.Validate()
		require.ErrorContains(t, err, c.says, fmt.Sprint(i))
	}
	for _, n := range []int{65, -1} {
		_, err := failaware.Config{ID: 1, Clock: failaware.ClockConfig{MinReferences: n, MaxUTCError: -1}}.Validate()
		require.ErrorContains(t, err, "Clock.MinReferences")
		require.ErrorContains(t, err, "Clock.MaxUTCError")
	}
}
