package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

// childEnv turns this test's program into a child.
const childEnv = "FAILAWARE_BENCH_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		if err := Serve(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// launcher starts children in processes of their own.
func launcher(t *testing.T) Launcher {
	self, err := os.Executable()
	require.NoError(t, err)
	return func() *exec.Cmd {
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), childEnv+"=1")
		return cmd
	}
}

// patient is timing that a busy machine can keep.
func patient() timed.Timing {
	t := timed.LAN()
	t.FastThreshold, t.SchedulingDelay = 40*time.Millisecond, 30*time.Millisecond
	t.ElectionPeriod, t.KeepalivePeriod = 50*time.Millisecond, 50*time.Millisecond
	t.Expires, t.LockTime, t.MaxLockTime = 400*time.Millisecond, 300*time.Millisecond, 300*time.Millisecond
	return t
}

// setup is the setup of most tests.
func setup(t *testing.T) Setup {
	return Setup{Preset: "patient", Timing: patient(), Limit: 2 * time.Minute, Launch: launcher(t)}
}

// patiently measures for a short time d, and again for longer ones until something comes of it:
// a busy machine may delay a process for all of a short time.
func patiently(d *time.Duration, measure func() bool) {
	for *d = 200 * time.Millisecond; !measure() && *d < 10*time.Second; {
		*d *= 2
	}
}

// readable checks that text and JSON of a result name the machine.
func readable(t *testing.T, r Result) {
	t.Helper()
	var b strings.Builder
	require.NoError(t, r.Text(&b))
	require.Contains(t, b.String(), "machine: ")
	j, err := json.Marshal(r)
	require.NoError(t, err)
	require.Contains(t, string(j), `"cores":`)
	t.Log(b.String())
}

func TestElection(t *testing.T) {
	if testing.Short() {
		t.Skip("several runs of several processes")
	}
	for _, oneProcess := range []bool{false, true} {
		r, err := Election(t.Context(), ElectionOptions{Setup: setup(t), OneProcess: oneProcess, Nodes: []int{2, 4}, Count: 200, First: 2, Fanout: 2})
		require.NoError(t, err)
		require.Len(t, r.Sizes, 2)
		for i, n := range []int{2, 4} {
			s := r.Sizes[i]
			require.Equal(t, n, s.Nodes)
			require.Equal(t, 200, s.Election.Count)
			require.Positive(t, s.Floor.Count)
			require.Positive(t, s.Election.Min)
			require.Greater(t, s.RequestBytes, s.ReplyBytes)
			require.LessOrEqual(t, s.First.Count, 2)
			if n == 4 {
				require.Equal(t, 200, s.Collated.Count)
				if s.Collated.Max < patient().FastThreshold/4 { // slow replies come directly
					require.Positive(t, s.CollatedPackets)
				}
			} else {
				require.Zero(t, s.Collated.Count, "two children are all there is")
			}
		}
		readable(t, r)
	}
}

func TestElectionIsBoundedInTime(t *testing.T) {
	opt := ElectionOptions{Setup: setup(t), OneProcess: true, Nodes: []int{2}, Count: 1_000_000, First: 1}
	opt.Limit = 2 * time.Second
	r, err := Election(t.Context(), opt)
	require.NoError(t, err)
	require.True(t, r.CutShort)
	require.Positive(t, r.Sizes[0].Election.Count)
}

// A trial that waits for a group that does not become whole ends with the limit, too.
func TestTrialsAreBoundedInTime(t *testing.T) {
	s := setup(t)
	s.Limit = time.Nanosecond
	_, err := Failover(t.Context(), FailoverOptions{Setup: s, Nodes: 3, Count: 1})
	require.ErrorIs(t, err, errLimit)
	_, err = Split(t.Context(), SplitOptions{Setup: s, Nodes: 4, Count: 1})
	require.ErrorIs(t, err, errLimit)
	_, err = Clock(t.Context(), ClockOptions{Setup: s, Nodes: 3, Count: 1})
	require.ErrorIs(t, err, errLimit)
	s.Limit = time.Minute
	ctx, cancel := context.WithCancel(t.Context())
	cut, err := s.repeat(ctx, 3, "trials", func() error {
		cancel()
		return nil
	})
	require.NoError(t, err)
	require.True(t, cut)
}

func TestFailover(t *testing.T) {
	r, err := Failover(t.Context(), FailoverOptions{Setup: setup(t), Nodes: 3, Count: 1, Followers: true})
	require.NoError(t, err)
	require.Zero(t, r.Leader.Failed+r.Follower.Failed)
	require.Equal(t, 1, r.Leader.Elected.Count)
	require.Equal(t, 1, r.Follower.View.Count)
	require.Positive(t, r.Leader.Leaderless.Min)
	require.LessOrEqual(t, r.Leader.Leaderless.Max, r.Leader.Elected.Max)
	readable(t, r)
	_, err = Failover(t.Context(), FailoverOptions{Nodes: 3, Count: 1})
	require.ErrorContains(t, err, "must be processes", "goroutines do not crash")
}

func TestClock(t *testing.T) {
	r, err := Clock(t.Context(), ClockOptions{Setup: setup(t), Nodes: 3, Count: 1, Watch: 200 * time.Millisecond})
	require.NoError(t, err)
	require.Equal(t, 1, r.Joins)
	require.Positive(t, r.Checked)
	require.Zero(t, r.Wrong)
	require.Positive(t, r.Now.Nanoseconds)
	require.Positive(t, r.Now.Single.P50)
	require.GreaterOrEqual(t, r.Now.Single.Min, r.Now.SingleHardware.Min, "it reads the hardware clock")
	require.Positive(t, r.Now.SingleHardware.Min, "which takes a while")
	readable(t, r)
}
