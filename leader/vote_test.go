package leader

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/failaware/failaware/timed"
)

// promise is the longest time for which a voter has bound itself to one incarnation.
type promise struct {
	to     timed.Incarnation
	until  timed.Instant
	number timed.Instant // of the latest request voted for
}

// requireKept requires that the voter is bound as promised, and to nobody once the promised
// time is over.
func (p promise) requireKept(t *rapid.T, e *Election, now timed.Instant) {
	to, until := e.Locked(now)
	if now < p.until {
		require.Equal(t, p.to, to)
		require.GreaterOrEqual(t, until, p.until)
	} else {
		require.False(t, to.Valid(), "bound to %v beyond the promised time", to)
	}
}

// restarts counts the restarts of nodes 1 to 3.
type restarts [4]timed.BootID

// draw draws the present incarnation of a node.
func (r *restarts) draw(t *rapid.T) timed.Incarnation {
	id := rapid.IntRange(1, 3).Draw(t, "node")
	return timed.Incarnation{Node: timed.NodeID(id), Boot: timed.BootID(10*id) + r[id]}
}

// A vote is bound to one incarnation for at least the promised time. It moves only when
// that time is over, or when its holder has freed all requests that it was given for.
// No order of requests, restarts and releases changes that.
func TestAVoteIsBoundUntilItsTimeOrItsRelease(t *testing.T) {
	granted, moved := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		e, alive, now := readyVoter()
		var starts restarts
		var given promise
		t.Repeat(map[string]func(*rapid.T){
			"request": func(t *rapid.T) {
				from := starts.draw(t)
				m := Request{Number: now.Add(-time.Duration(rapid.IntRange(0, 3).Draw(t, "older")) * time.Millisecond),
					LockTime: time.Duration(rapid.IntRange(0, 90).Draw(t, "lock")) * time.Millisecond}
				started := now.Add(-time.Duration(rapid.IntRange(0, 10).Draw(t, "late")) * time.Millisecond)
				reply, answered := request(e, now, from, m, rapid.IntRange(0, 9).Draw(t, "slow") > 0, started, alive)
				if !answered || !reply.Support {
					return
				}
				granted++
				if from != given.to {
					require.GreaterOrEqual(t, now, given.until, "%v was promised the vote that %v got", given.to, from)
					if given.to.Valid() {
						moved++
					}
					given = promise{to: from}
				}
				given.until, given.number = timed.Later(given.until, started.Add(m.LockTime)), m.Number
			},
			"release": func(t *rapid.T) {
				from, number := starts.draw(t), now.Add(-time.Duration(rapid.IntRange(0, 3).Draw(t, "older"))*time.Millisecond)
				e.NoteRelease(now, from, number, timed.NoNode)
				if from == given.to && given.number <= number {
					given = promise{}
				}
			},
			"restart": func(t *rapid.T) {
				id := timed.NodeID(rapid.IntRange(1, 3).Draw(t, "node"))
				starts[id]++
				e.Forget(id)
			},
			"state": func(t *rapid.T) {
				s := drawState.Draw(t, "state")
				e.NoteState(start, starts.draw(t), &s)
			},
			"time": func(t *rapid.T) {
				now = now.Add(time.Duration(rapid.IntRange(0, 30).Draw(t, "ms")) * time.Millisecond)
			},
			"": func(t *rapid.T) { given.requireKept(t, e, now) },
		})
	})
	if !testing.Short() { // which runs too few for these counts
		require.Greater(t, granted, 20)
		require.Greater(t, moved, 5)
	}
}
