package clocksync

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

// Times near the ends of their ranges must not make the clock show a time that no packet
// can carry, now or in years. What cannot be used is ignored.
func TestTimesOutOfReachAreIgnored(t *testing.T) { reachIsKept(t) }

func reachIsKept(t testing.TB) {
	for at, want := range map[Time]bool{reach: true, reach + 1: false, -reach: true, -reach - 1: false} {
		require.Equal(t, want, at.reachable())
		require.Equal(t, want, at.clamp() == at)
	}
	const years = timed.Instant(10 * 365 * 24 * time.Hour)
	leader := timed.Incarnation{Node: 2, Boot: 20}
	for name, play := range map[string]func(c *Sync){
		"wall clock at the end": func(*Sync) {},
		"line at the end": func(c *Sync) {
			c.HandleLine(5, &Line{Timeline: TimelineID{Leader: 2, Boot: 20, Sequence: 1}, Base: 5, Shown: maxTime, Until: 10}, 0, 0, nil)
		},
		"line at the beginning": func(c *Sync) {
			c.HandleLine(5, &Line{Timeline: TimelineID{Leader: 2, Boot: 20, Sequence: 1}, Base: 5, Shown: -maxTime, Until: 10}, 0, 0, nil)
		},
		"line that comes from far away": func(c *Sync) {
			l := Line{Timeline: TimelineID{Leader: 2, Boot: 20, Sequence: 1}, Base: 5, Shown: reach, Until: 10}
			c.HandleLine(5, &l, years.Sub(0), years.Sub(0), nil)
		},
		"UTC at the end": func(c *Sync) {
			c.HandleUTC(5, &UTC{State: UTCKnown, At: 5, Low: maxTime - 9, High: maxTime - 5}, 0, 0, nil)
		},
		"own sample at the end": func(c *Sync) {
			c.HandleSample(5, &Sample{Source: 1, At: 5, Low: maxTime - 9, High: maxTime - 5}, nil)
		},
		"forwarded sample at the beginning": func(c *Sync) {
			c.HandleLead(5, nil)
			f := Forwarded{Count: 1}
			f.List[0] = Sample{Source: 1, At: 5, Low: 1 - maxTime, High: 5 - maxTime}
			c.HandleForwarded(5, leader.Node, &f, 0, 0, nil)
		},
	} {
		cfg := config(1)
		wall := Time(1_790_000_000_000_000_000)
		if name == "wall clock at the end" {
			wall = math.MaxInt64
		}
		c := New(cfg, 5, wall)
		play(c)
		c.HandleLead(6, nil)
		for _, now := range []timed.Instant{6, years} {
			out := c.Announce(now, now+1, c.Steer(now, nil))
			r := c.Read(now)
			require.LessOrEqual(t, max(r.Time, -r.Time), Time(maxTime), name)
			for i := range out {
				if e := &out[i]; e.Kind == SendUTC {
					require.True(t, e.UTC.Valid(), name)
				}
			}
		}
	}
}
