package sim

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/sim/fault"
	"github.com/failaware/failaware/sim/situation"
	"github.com/failaware/failaware/timed"
)

// Worlds whose external references lie, ramp and fail keep every promise, and
// reach all that there is about UTC.
func TestWorldsWithServers(t *testing.T) {
	var c Counters
	for seed := uint64(1); seed <= 40; seed++ {
		r, err := Run(seed, Options{Servers: &fault.Servers{}, Roughness: 2, Codec: seed%5 == 0})
		require.NoError(t, err)
		if r.Violation != nil {
			t.Error(r.Violation)
		}
		c.add(&r.Counters)
	}
	for s := situation.UTCExternal; s <= situation.LineBent; s++ {
		require.NotZero(t, c.Sometimes[s], s)
	}
}

// readingsWith returns the readings of all nodes of a calm world in the end, and which
// servers were named as liars on the way.
func readingsWith(t *testing.T, servers *fault.Servers) (readings []clocksync.Reading, named map[clocksync.SourceID]bool, r Result) {
	named = map[clocksync.SourceID]bool{}
	opt := Options{Servers: servers, Calm: true, Duration: 30 * time.Second}
	w, err := New(1, opt)
	require.NoError(t, err)
	w.check.HeardUTC = func(e *stack.Event) {
		if e.Kind == stack.EventFalseticker {
			named[e.Source] = true
		}
	}
	require.NoError(t, w.Run(opt.Duration))
	for _, n := range w.nodes {
		readings = append(readings, n.proc.Stack.Clock().Read(n.proc.Clock.Show(w.now)))
	}
	r = w.result()
	require.Nil(t, r.Violation)
	return readings, named, r
}

func honest(nodes ...timed.NodeID) fault.Server {
	return fault.Server{Nodes: timed.SetOf(nodes...), Every: time.Second, Delay: time.Millisecond, Error: 50 * time.Microsecond}
}

func liar(by time.Duration, nodes ...timed.NodeID) fault.Server {
	s := honest(nodes...)
	s.Shift, s.Until = by, time.Hour
	return s
}

// One node with a reference brings all to UTC.
func TestOneNodeBringsAllToUTC(t *testing.T) {
	readings, named, _ := readingsWith(t, &fault.Servers{MinReferences: 1, List: []fault.Server{honest(3)}})
	require.Empty(t, named)
	for _, r := range readings {
		require.Equal(t, clocksync.External, r.Status)
		require.Less(t, r.UTCBound, 10*time.Millisecond)
	}
}

// References of different nodes count each by itself, and a minority that lies
// is named.
func TestMinorityIsNamed(t *testing.T) {
	readings, named, _ := readingsWith(t, &fault.Servers{MinReferences: 3, List: []fault.Server{honest(1), liar(10*time.Second, 2), honest(3)}})
	require.Equal(t, map[clocksync.SourceID]bool{2: true}, named)
	for _, r := range readings {
		require.Equal(t, clocksync.External, r.Status)
	}
}

// Liars that do not agree leave no majority, and that is said.
func TestNoMajorityIsNoUTC(t *testing.T) {
	readings, _, r := readingsWith(t, &fault.Servers{MinReferences: 3,
		List: []fault.Server{honest(1), liar(10*time.Second, 2), liar(-time.Second, 3)}})
	require.NotZero(t, r.Counters.Sometimes[situation.UTCDisputed])
	for _, r := range readings {
		require.Equal(t, clocksync.Internal, r.Status, "group time does not need UTC")
		require.Equal(t, clocksync.UnknownBound, r.UTCBound)
	}
}

// Fewer than MinReferences prove nothing.
func TestTooFewReferencesAreNoUTC(t *testing.T) {
	readings, _, _ := readingsWith(t, &fault.Servers{MinReferences: 3, List: []fault.Server{honest(1), honest(2)}})
	for _, r := range readings {
		require.Equal(t, clocksync.UnknownBound, r.UTCBound)
	}
}

func TestCasesKeepServers(t *testing.T) {
	for seed := uint64(1); seed <= 4; seed++ { // with tails, and without
		c, err := CaseOf(seed, Options{Servers: &fault.Servers{}, Duration: time.Second})
		require.NoError(t, err)
		require.NotNil(t, c.Schedule.Servers)
		c.Schedule.Servers.List[0].Burst, c.Schedule.Servers.List[0].MinDelay = 3, time.Microsecond
		var b bytes.Buffer
		require.NoError(t, c.Write(&b))
		again, err := ReadCase(&b)
		require.NoError(t, err)
		require.Equal(t, c.Schedule.Servers, again.Schedule.Servers)
		first, err := c.Run()
		require.NoError(t, err)
		second, err := again.Run()
		require.NoError(t, err)
		require.Equal(t, first.Hash, second.Hash)
	}
}

func TestBadServersAreNamed(t *testing.T) {
	for field, change := range map[string]func(*fault.Server){
		"Nodes":      func(s *fault.Server) { s.Nodes = timed.SetOf(9) },
		"no clients": func(s *fault.Server) { s.Nodes = timed.Set{} },
		"Every":      func(s *fault.Server) { s.Every = time.Millisecond },
		"Delay":      func(s *fault.Server) { s.Delay = -1 },
		"Error":      func(s *fault.Server) { s.Error = -1 },
		"Bias":       func(s *fault.Server) { s.Bias = time.Second },
		"Shift":      func(s *fault.Server) { s.Shift = 1000 * time.Hour },
		"Ramp":       func(s *fault.Server) { s.Ramp = 1 << 60 },
	} {
		s := honest(1)
		change(&s)
		_, err := New(1, Options{Servers: &fault.Servers{MinReferences: 1, List: []fault.Server{s}}})
		require.ErrorContains(t, err, field)
	}
	for field, s := range map[string]fault.Servers{
		"Leap: kind 3": {Leap: &fault.LeapSecond{Kind: 3}},
		"Leap: kind 1": {Leap: &fault.LeapSecond{Kind: 1, At: -1}},
		"Announces: 1": {List: []fault.Server{{Announces: fault.LeapInsert}}},
		"Lag":          {List: []fault.Server{{Lag: -1}}},
		"Settled -1ns": {Settled: -1},
		"no minority":  {Settled: 1, List: []fault.Server{{Shift: 1}}},
	} {
		for i := range s.List {
			x := honest(1)
			x.Announces, x.Lag, x.Shift = s.List[i].Announces, s.List[i].Lag, s.List[i].Shift
			s.List[i] = x
		}
		s.MinReferences, s.List = 1, append(s.List, honest(1))
		_, err := New(1, Options{Servers: &s})
		require.ErrorContains(t, err, field)
	}
	_, err := New(1, Options{Servers: &fault.Servers{List: []fault.Server{honest(1)}}})
	require.ErrorContains(t, err, "MinReferences")
}

// A case whose promise has nothing to do with the servers shrinks to one without.
func TestShrinkingLeavesServersOut(t *testing.T) {
	opt := Options{Servers: &fault.Servers{}, Duration: time.Second, App: func(w *World) App {
		return App{Invariants: []Invariant{{Name: "early", Check: func() error {
			if w.Time() > 500*time.Millisecond {
				return context.Canceled
			}
			return nil
		}}}}
	}}
	c, err := CaseOf(3, opt)
	require.NoError(t, err)
	small, _, err := Shrink(t.Context(), c, ShrinkOptions{MaxRuns: 300})
	require.NoError(t, err)
	require.Nil(t, small.Schedule.Servers)
}
