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

// nobodySays has a clock hear what no node of its settings says, and requires that it changes
// nothing: rates beyond the largest slew, also behind a bend, samples and times of UTC that
// are not valid or out of reach, and samples of the future.
func nobodySays(t testing.TB) {
	const source, at = 7, start
	slew := config(1).MaxSlew
	good := Line{Timeline: TimelineID{Leader: 2, Boot: 20, Sequence: 1}, Base: at, Shown: wall, Until: at.Add(time.Second), Bend: at.Add(time.Second / 2)}
	for n, rates := range [][2]int64{{slew, -slew}, {slew + 1, 0}, {-slew - 1, 0}, {0, slew + 1}, {0, -slew - 1}} {
		c := New(config(1), at, wall)
		l := good
		l.Rate, l.Next = rates[0], rates[1]
		c.HandleLine(at, &l, 0, 0, nil)
		require.Equal(t, n == 0, c.snap.known, "%v", rates)
	}
	for n, u := range []UTC{{State: UTCKnown, At: at, Low: wall, High: wall}, {State: UTCKnown, At: at, Low: wall + 1, High: wall},
		{State: UTCKnown, At: at, Low: wall, High: wall, Leap: LeapDelete + 1}, {State: UTCDisputed, Leap: LeapInsert},
		{State: UTCKnown, At: at, Low: reach, High: reach + 1}, {State: UTCKnown, At: at, Low: -reach - 1, High: wall}} {
		c := New(config(1), at, wall)
		c.HandleLine(at, &good, 0, 0, nil)
		c.HandleUTC(at, &u, 0, 0, nil)
		require.Equal(t, n == 0, c.snap.utc.state != UTCUnknown, "%+v", u)
	}
	const offset = time.Millisecond
	for n, s := range []Sample{{Source: source, At: at.Add(offset), Low: wall, High: wall}, {Source: source, At: at.Add(offset) + 1, Low: wall, High: wall},
		{Source: source, At: at, Low: wall + 1, High: wall}, {Source: source, At: at, Low: reach, High: reach + 1},
		{Source: source, At: at, Low: -reach - 1, High: wall}} {
		c := utcLeader()
		c.HandleForwarded(at, 3, &Forwarded{Count: 1, List: [MaxForwarded]Sample{s}}, 0, offset, nil)
		require.Equal(t, n == 0, len(c.References(at)) == 1, "%+v", s)
		follower := New(config(1), at, wall)
		follower.HandleForwarded(at, 3, &Forwarded{Count: 1, List: [MaxForwarded]Sample{s}}, 0, offset, nil)
		require.Empty(t, follower.References(at), "samples are forwarded to the leader")
	}
}

func TestWhatNobodySaysChangesNothing(t *testing.T) { nobodySays(t) }
