package api

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/event"
	"github.com/failaware/failaware/internal/ntptest"
)

func TestClockWithReferences(t *testing.T) {
	good := ntptest.Start(t, ntptest.Behaviour{}).Addr()
	bad := ntptest.Start(t, ntptest.Behaviour{Kiss: "INIT"}).Addr()
	n := startNode(t, failaware.Config{ID: 1, References: []failaware.Reference{{NTP: good}, {NTP: bad}}})
	_, c := serveNode(t, n)
	ctx, cancel := context.WithTimeout(t.Context(), longEnough)
	defer cancel()
	var clock Clock
	for clock.Status != clocksync.External.String() {
		require.NoError(t, c.Get(ctx, "/v1/clock", &clock))
		time.Sleep(10 * time.Millisecond)
	}
	require.NotNil(t, clock.UTCBoundNS)
	require.Equal(t, "none", clock.Leap)
	var list Sources
	require.NoError(t, c.Get(ctx, "/v1/clock/sources", &list))
	require.Len(t, list.Sources, 2)
	a, b := list.Sources[0], list.Sources[1]
	require.Equal(t, "ntp "+good, a.Name)
	require.Equal(t, "good", a.Verdict)
	require.Equal(t, good, a.Address)
	require.NotNil(t, a.OffsetNS)
	require.NotZero(t, a.Samples)
	require.Equal(t, "none", b.Verdict)
	require.Nil(t, b.OffsetNS)
	require.Contains(t, b.Error, "kiss of death")
	var past History
	require.NoError(t, c.Get(ctx, "/v1/clock/history", &past))
	require.NotEmpty(t, past.Points)
	require.EqualValues(t, time.Second, past.EveryNS)
}

func TestClockHistoryIsBounded(t *testing.T) {
	var h clockHistory
	require.Empty(t, h.points())
	for i := range MaxHistory + 5 {
		h.add(failaware.Reading{Time: failaware.GroupTime(i), Deviation: clocksync.UnknownBound, UTCBound: time.Millisecond})
	}
	p := h.points()
	require.Len(t, p, MaxHistory)
	require.EqualValues(t, 5, p[0].TimeNS)
	require.Nil(t, p[0].DeviationNS)
	require.EqualValues(t, time.Millisecond, *p[0].UTCBoundNS)
}

func TestEventsAboutReferences(t *testing.T) {
	e := EventOf(event.Falseticker{Name: "ntp x", Source: 255, Node: 3, Off: time.Second}, 1, "run")
	require.Equal(t, "clock-falseticker", e.Kind)
	require.Equal(t, "00000000000000ff", e.Source)
	require.Equal(t, 3, e.Peer)
	require.EqualValues(t, time.Second, *e.StepNS)
	require.True(t, wanted("clock", e.Kind))
	require.Contains(t, e.Text, "ntp x")
	e = EventOf(event.Truechimer{Source: 255, Node: 3}, 1, "run")
	require.Contains(t, e.Text, "00000000000000ff")
	e = EventOf(event.UTCChanged{State: clocksync.UTCDisputed}, 1, "run")
	require.Equal(t, "disputed", e.State)
	require.Contains(t, e.Text, "no majority")
	e = EventOf(event.UTCChanged{State: clocksync.UTCKnown}, 1, "run")
	require.Equal(t, "known", e.State)
}
