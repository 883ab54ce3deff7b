package stack

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/timed"
)

// A node that was alone steps onto the first timeline that it shares, however near that is:
// nobody has seen its clock. Slewing would take ten seconds.
func stepsOnce(t testing.TB) {
	w := &wired{now: timed.Instant(time.Hour), count: make([]int, 2)}
	for id := timed.NodeID(1); id <= 2; id++ {
		cfg := Config{Self: incarnationOf(id), Group: 1, Timing: timed.LAN(), MaxDeviation: clocksync.DefaultMaxDeviation,
			MaxSlew: clocksync.DefaultMaxSlew, StepThreshold: clocksync.DefaultStepThreshold}
		w.nodes = append(w.nodes, New(cfg, timed.Set{}, w.now, clocksync.Time(id)*clocksync.Time(5*time.Millisecond)))
	}
	w.pass(500 * time.Millisecond)
	for i, s := range w.nodes {
		require.True(t, s.Leads(w.now), "node %d is alone", i+1)
		require.Equal(t, 1, s.Membership().View().Set.Len())
	}
	w.nodes[0].AddPeer(w.now, 2)
	w.nodes[1].AddPeer(w.now, 1)
	for i, s := range w.nodes {
		w.perform(i, s.HandleTimeout(w.now, nil))
	}
	w.pass(500 * time.Millisecond)
	a, b := w.nodes[0].Clock().Read(w.now), w.nodes[1].Clock().Read(w.now)
	require.Equal(t, a.Timeline, b.Timeline)
	require.Less(t, a.Time.Sub(b.Time).Abs(), time.Millisecond)
}

func TestANodeThatWasAloneStepsOnce(t *testing.T) { stepsOnce(t) }

// A leader learns UTC from the references of a follower, whose samples come with its votes.
func votesBringUTC(t testing.TB) {
	w := &wired{now: timed.Instant(time.Hour), count: make([]int, 2)}
	const utc = clocksync.Time(1_800_000_000_000_000_000)
	for id := timed.NodeID(1); id <= 2; id++ {
		cfg := Config{Self: incarnationOf(id), Group: 1, Timing: timed.LAN(), MaxDeviation: clocksync.DefaultMaxDeviation, MaxSlew: clocksync.DefaultMaxSlew,
			StepThreshold: clocksync.DefaultStepThreshold, MaxUTCError: clocksync.DefaultMaxUTCError, MinReferences: 1}
		w.nodes = append(w.nodes, New(cfg, timed.SetOf(3-id), w.now, utc))
	}
	w.pass(time.Second)
	for i, s := range w.nodes {
		if s.Leads(w.now) {
			continue
		}
		lead := w.nodes[1-i]
		require.True(t, lead.Leads(w.now))
		sample := clocksync.Sample{Source: 5, At: w.now, Low: utc, High: utc + clocksync.Time(time.Millisecond)}
		s.HandleSample(w.now, &sample, nil)
		at := w.now
		w.pass(time.Second)
		require.Len(t, lead.Clock().References(w.now), 1)
		for _, n := range w.nodes {
			r := n.Clock().Read(w.now)
			require.Equal(t, clocksync.External, r.Status)
			truth := utc + clocksync.Time(w.now.Sub(at))
			require.LessOrEqual(t, r.Time.Sub(truth).Abs(), r.UTCBound)
			require.Less(t, r.UTCBound, 5*time.Millisecond)
		}
	}
}

func TestVotesBringUTC(t *testing.T) { votesBringUTC(t) }

// A node suspects its own clock when those of most peers contradict it, and not when that of
// one of two does.
func TestMostPeersContradictAClock(t *testing.T) {
	c, lead := atRest()
	s := c.stacks[lead.Self().Node%3]
	suspects := func(peers timed.Set) bool {
		c.events = nil
		for range 300 {
			for _, p := range c.step(s) {
				if peers.Has(p.Header.Source) {
					p.Header.Stamp = p.Header.Stamp.Add(time.Second)
				}
				c.take(s.HandlePacket(c.now, c.now, &p, nil))
			}
			c.take(s.HandleTimeout(c.now, nil))
		}
		require.True(t, slices.ContainsFunc(c.events, func(e Event) bool { return e.Kind == EventClockFault }))
		return slices.ContainsFunc(c.events, func(e Event) bool { return e.Kind == EventRestart })
	}
	others := timed.SetOf(1, 2, 3).Without(s.Self().Node)
	require.False(t, suspects(timed.SetOf(others.Next(0))))
	require.True(t, suspects(others))
}
