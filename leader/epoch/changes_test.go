package epoch

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

// changes runs a random world in which leaders change the quorum system repeatedly.
// It then ends all faults and makes one more change.
func changes(seed uint64) *world {
	return end(newWorld(seed, 6, "majority 1,2,3"))
}

// rivalry runs a random world in which most reports are lost, so that voters note
// proposals of many leaders before one is chosen.
func rivalry(seed uint64) *world {
	w := newWorld(seed, 5, "majority 1,2,3,4,5")
	w.unheard, w.rivals = 0.7, true
	return end(w)
}

func end(w *world) *world {
	w.run(6*time.Second, true)
	w.endFaults()
	w.until(20*time.Second, w.defect)
	if w.wrong != "" {
		return w
	}
	l := w.leader()
	epoch, next := l.epoch, w.draw()
	for next == w.systems[epoch] {
		next = w.draw()
	}
	if err := l.m.Propose(next); err != nil {
		w.fail("no further change: %v", err)
	}
	w.until(20*time.Second, func() string {
		if what := w.defect(); what != "" {
			return what
		}
		if l := w.leader(); l.epoch != epoch+1 || w.systems[l.epoch] != next {
			_ = l.m.Propose(next) // the lead may have ended before it was proposed
			return "the change is not made"
		}
		return ""
	})
	return w
}

// lost runs a world in which three of five members die permanently, and an
// administrator forces a successor at one survivor. In some worlds, a second
// administrator forces another successor at the other survivor, which may block the
// group.
func lost(seed uint64) *world {
	w := newWorld(seed, 6, "majority 1,2,3,4,5")
	w.loss, w.delay = 0.2, 0.3
	w.run(time.Second, false)
	if w.wrong != "" {
		return w
	}
	var dead timed.Set
	for _, n := range w.nodes[2:5] {
		w.crashNode(n)
		n.dead = true
		dead.Add(n.id)
	}
	w.run(time.Duration(w.random.Int64N(200*ms)), false)
	conflict := w.random.IntN(2) == 0
	w.force(1, "majority 1,2", dead)
	if conflict {
		w.force(2, "majority 1,2,6", dead)
	}
	w.run(time.Duration(w.random.Int64N(300*ms)), false)
	w.endFaults()
	if conflict {
		w.run(5*time.Second, false)
		return w
	}
	w.force(1, "majority 1,2", dead) // its node may have crashed before it was written
	w.until(10*time.Second, func() string {
		if what := w.defect(); what != "" {
			return what
		}
		if w.leader().epoch != 2 {
			return "nothing was forced"
		}
		return ""
	})
	return w
}

// seeds is the number of worlds per test. A repeated test plays new worlds, because
// the search for planted bugs repeats tests.
const seeds = 60

var played uint64

func each(t testing.TB, world func(uint64) *world) map[EventKind]int {
	t.Helper()
	sum := map[EventKind]int{}
	for range seeds {
		played++
		w := world(played)
		for k, n := range w.events {
			sum[k] += n
		}
		require.Empty(t, w.wrong, "seed %d", played)
	}
	return sum
}

func TestChangesEndAndEpochsDoNotOverlap(t *testing.T) {
	events := each(t, changes)
	for _, k := range []EventKind{Proposed, Decided, Entered} {
		require.NotZero(t, events[k], "no world has event %d", k)
	}
	for _, k := range []EventKind{Conflict, DeclaredDead, Unordered} {
		require.Zero(t, events[k], "a world has event %d", k)
	}
}

func TestRivalsChooseOneSuccessor(t *testing.T) {
	events := each(t, rivalry)
	require.NotZero(t, events[Superseded], "no proposal met an earlier one")
	for _, k := range []EventKind{Conflict, DeclaredDead, Unordered} {
		require.Zero(t, events[k], "a world has event %d", k)
	}
}

func TestForcedSuccessorRulesAlone(t *testing.T) {
	events := each(t, lost)
	require.NotZero(t, events[Entered])
	require.NotZero(t, events[Conflict], "two administrators never contradict each other")
}

// A member that has wedged, and hears of another reason to, writes that down before it says
// so: otherwise others would count on what it forgets when it restarts.
func reasonsAreWritten(t testing.TB) {
	for _, first := range []State{{Agreed: true}, {Dead: timed.SetOf(3)}} {
		first.Epoch, first.System, first.Phase, first.Next = 1, "majority 1,2,3", Wedged, "majority 1,2"
		m, err := New(Config{Self: timed.Incarnation{Node: 1, Boot: 1}, Counter: 1, Parse: parseMajority, Period: 1, IdlePeriod: 1, Retry: 1}, first, 5)
		require.NoError(t, err)
		other := first
		other.Phase, other.Agreed, other.Dead = Chosen, !first.Agreed, timed.Set{}
		if !other.Agreed {
			other.Dead = timed.SetOf(3)
		}
		out := m.HandleReport(5, timed.Incarnation{Node: 2, Boot: 1}, &other, nil)
		require.NotEmpty(t, out)
		require.Equal(t, Persist, out[0].Kind)
		require.True(t, out[0].State.Agreed)
		require.Equal(t, timed.SetOf(3), out[0].State.Dead)
	}
}

func TestReasonsToWedgeAreWritten(t *testing.T) { reasonsAreWritten(t) }
