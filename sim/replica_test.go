package sim

import (
	"flag"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var stateSeeds = flag.Uint64("state.seeds", 15, "seeds of each campaign of replicated state")
var stateFirst = flag.Uint64("state.first", 1, "the first of them")
var stateTime = flag.Duration("state.time", 0, "how long each campaign goes on, instead of a number of seeds")
var stateTrace = flag.Bool("state.trace", false, "print what happens in campaigns of replicated state")

// Phases of a run of replicated state.
const (
	stateRage = 6 * time.Second // random faults strike
	// stateTail is how long operations come after the last fault. statePeace holds
	// the longest reboot, a view, and the delivery of all that was broadcast, and
	// statePatience what slow applications have still to do.
	stateTail     = 400 * time.Millisecond
	statePeace    = 3 * time.Second
	statePatience = 20 * time.Second
)

// stateRun plays one seed: a hostile world, peace, and one state everywhere.
func stateRun(seed uint64, opt stateOptions) (stateTally, error) {
	s := newStateWorld(seed, opt)
	o := s.options()
	if *stateTrace {
		o.Trace = os.Stderr
	}
	c, err := CaseOf(seed, o)
	if err != nil {
		return s.tally, err
	}
	c.Schedule.Traffic.Mix = s.temper.mix
	w, err := c.World()
	if err != nil {
		return s.tally, err
	}
	if err := w.Run(stateRage); err != nil {
		return s.tally, err
	}
	w.Mend()
	if err := w.Run(stateTail); err != nil {
		return s.tally, err
	}
	s.done = true
	if err := w.Run(statePeace); err != nil {
		return s.tally, err
	}
	_ = w.RunUntil(statePatience, s.idle) // what is not so by then, settled says better
	s.check.settled()
	return s.tally, w.err()
}

func stateCampaign(t *testing.T, opt stateOptions) (sum stateTally) {
	t.Helper()
	began, seed := time.Now(), *stateFirst
	more := func() bool {
		if *stateTime > 0 {
			return seed == *stateFirst || time.Since(began) < *stateTime
		}
		return seed < *stateFirst+*stateSeeds
	}
	for ; more(); seed++ {
		one, err := stateRun(seed, opt)
		require.NoError(t, err)
		sum.ops += one.ops
		sum.restores += one.restores
		sum.merges += one.merges
		sum.over += one.over
		sum.discarded += one.discarded
		sum.refused += one.refused
		sum.lost += one.lost
		sum.diverged += one.diverged
		sum.lasting += one.lasting
		sum.barriers += one.barriers
		sum.skipped += one.skipped
		sum.broken += one.broken
	}
	t.Logf("seeds %d to %d: %+v", *stateFirst, seed-1, sum)
	return sum
}

func TestStateIsOneAgainAfterEveryFault(t *testing.T) {
	sum := stateCampaign(t, stateOptions{})
	require.Positive(t, sum.merges)
	require.Positive(t, sum.restores)
}

func TestStateWithTimedOperations(t *testing.T) {
	sum := stateCampaign(t, stateOptions{timed: true})
	require.Positive(t, sum.merges)
}

func TestStateWithLittleRoom(t *testing.T) {
	sum := stateCampaign(t, stateOptions{tight: true})
	require.Positive(t, sum.over)
}

func TestStateOfAQuorum(t *testing.T) {
	sum := stateCampaign(t, stateOptions{quorum: true})
	require.Zero(t, sum.merges)
	require.Positive(t, sum.restores)
	require.Positive(t, sum.barriers)
	require.Greater(t, sum.lasting, sum.ops/10)
}
