package api

import (
	"context"
	"slices"
	"strings"
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

// requireVerdicts waits until both references of a node have a verdict, and the sources, the clock,
// the status and the explanation of the clock say the same about UTC. On a busy machine, the node may
// lose its lead for a moment, and has another problem then.
func requireVerdicts(t *testing.T, cfg failaware.Config, verdict, problem string) {
	t.Helper()
	_, c := serveNode(t, startNode(t, cfg))
	said := func() (all []string) {
		var list Sources
		var clock Clock
		var status Status
		var why Why
		for path, to := range map[string]any{"/v1/clock/sources": &list, "/v1/clock": &clock, "/v1/status": &status, "/v1/why?about=clock": &why} {
			if err := c.Get(t.Context(), path, to); err != nil {
				return []string{err.Error()}
			}
		}
		for i := range list.Sources {
			all = append(all, list.Sources[i].Verdict)
		}
		_, state, _ := strings.Cut(why.State, "; ")
		return append(all, list.UTCProblem, clock.UTCProblem, status.Clock.UTCProblem, state)
	}
	want := []string{verdict, verdict, problem, problem, problem, problem}
	require.Eventually(t, func() bool { return slices.Equal(want, said()) }, longEnough, 10*time.Millisecond, "%v", said())
}

func TestReferencesThatDisagreeAreNotGood(t *testing.T) {
	one, other := ntptest.Start(t, ntptest.Behaviour{}).Addr(), ntptest.Start(t, ntptest.Behaviour{Shift: time.Hour}).Addr()
	requireVerdicts(t, failaware.Config{ID: 1, References: []failaware.Reference{{NTP: one}, {NTP: other}}},
		"disputed", "UTC is disputed: no majority of the references agrees")
}

func TestTooFewReferencesAreNotGood(t *testing.T) {
	one, other := ntptest.Start(t, ntptest.Behaviour{}).Addr(), ntptest.Start(t, ntptest.Behaviour{}).Addr()
	requireVerdicts(t, failaware.Config{ID: 1, References: []failaware.Reference{{NTP: one}, {NTP: other}}, Clock: failaware.ClockConfig{MinReferences: 3}},
		"unjudged", "UTC is not known: 2 of 3 needed references have valid samples")
}

func TestNobodyMissesUTCWithoutReferences(t *testing.T) {
	_, c := serveNode(t, startNode(t, failaware.Config{ID: 1}))
	var clock Clock
	for clock.Status != "internal" {
		require.NoError(t, c.Get(t.Context(), "/v1/clock", &clock))
	}
	require.Empty(t, clock.UTCProblem)
}

func TestVerdictsOnReferences(t *testing.T) {
	known := clocksync.Knowledge{State: clocksync.UTCKnown}
	fewer := clocksync.Knowledge{State: clocksync.UTCKnown, Lack: clocksync.LackProvers}
	disputed := clocksync.Knowledge{State: clocksync.UTCDisputed, Lack: clocksync.LackMajority}
	for _, c := range []struct {
		utc         clocksync.Knowledge
		falseticker bool
		verdict     string
	}{{known, false, "good"}, {known, true, "falseticker"}, {fewer, false, "unjudged"}, {fewer, true, "falseticker"},
		{disputed, false, "disputed"}, {disputed, true, "disputed"}, {clocksync.Knowledge{}, true, "unjudged"}} {
		s := sourceOf(&failaware.ReferenceStatus{Known: true, Falseticker: c.falseticker}, c.utc)
		require.Equal(t, c.verdict, s.Verdict, "%v", c)
	}
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
