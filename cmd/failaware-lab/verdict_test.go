package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/cli"
	"github.com/failaware/failaware/internal/cli/clitest"
	"github.com/failaware/failaware/internal/clocktrial"
	"github.com/failaware/failaware/sim"
	"github.com/failaware/failaware/sim/lab"
	"github.com/failaware/failaware/timed"
)

// A broken promise ends a command with an error, whatever else has happened.
func TestBrokenPromisesEndWithAnError(t *testing.T) {
	disk := errors.New("the disk is full")
	for _, c := range []struct {
		broken, interrupted, never, cover bool
		problem, want                     error
	}{
		{}, {never: true}, {never: true, cover: true, want: cli.ErrNo}, {interrupted: true, want: context.Canceled},
		{broken: true, want: errViolation}, {broken: true, interrupted: true, want: errViolation},
		{broken: true, never: true, cover: true, want: errViolation}, {problem: disk, want: disk}, {broken: true, problem: disk, want: disk},
	} {
		s := simRun{flags: &simFlags{requireCoverage: c.cover}, err: io.Discard}
		s.result.Interrupted = c.interrupted
		if c.broken {
			s.broken = &sim.Violation{}
		}
		if c.never {
			s.result.Never = []string{"a split"}
		}
		if err := s.verdict(c.problem); c.want == nil {
			require.NoError(t, err)
		} else {
			require.ErrorIs(t, err, c.want)
		}
	}
	good, bad := &clocktrial.Result{}, &clocktrial.Result{Outside: 1}
	require.NoError(t, tooSmall(io.Discard, []*clocktrial.Result{good}))
	require.ErrorIs(t, tooSmall(io.Discard, []*clocktrial.Result{bad, good}), errViolation)

	row := lab.Row{Specs: []lab.Tally{{Violated: 3}, {Promised: true}}}
	require.NoError(t, promised([]lab.Row{row}))
	row.Specs[1].Violated = 1
	require.ErrorIs(t, promised([]lab.Row{{}, row}), errViolation)
}

// A shard runs the seeds that follow those of the shards before.
func TestAShardHasItsOwnSeeds(t *testing.T) {
	hashes := func(args ...string) string {
		code, out, err := clitest.Invoke(&program, append([]string{"campaign", "run", "mild", "--quiet", "--hashes", "--seeds", "2"}, args...)...)
		require.Zero(t, code, err)
		return out
	}
	require.Equal(t, hashes("--first-seed", "3"), hashes("--shard", "1"))
	require.NotEqual(t, hashes(), hashes("--shard", "1"))
}

// What shards have not reached, or whether one was interrupted, decides the exit code.
func TestExitCodesOfMergedShards(t *testing.T) {
	file := filepath.Join(t.TempDir(), "0.json")
	for result, want := range map[string]int{
		`{"name":"a","seeds":1}`: 0, `{"name":"a","seeds":1,"not_reached":["a split"]}`: 1, `{"name":"a","interrupted":true}`: 1,
		`{"name":"a","violations":1,"violation":{"seed":7}}`: 1,
	} {
		require.NoError(t, os.WriteFile(file, []byte("["+result+"]"), 0o644))
		for _, format := range []string{"table", "json"} {
			code, _, err := clitest.Invoke(&program, "campaign", "merge", file, "-o", format)
			require.Equal(t, want, code, "%s: %s", result, err)
		}
	}
}

// A case without a name replaces no other one.
func TestCasesKeepTheirFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	c, err := sim.CaseOf(3, sim.Options{Nodes: 2, Duration: time.Second, Timing: timed.LAN(), Roughness: 1})
	require.NoError(t, err)
	for _, want := range []string{"case-3.json", "case-3-2.json", "case-3-3.json"} {
		path, err := keep("", &c)
		require.NoError(t, err)
		require.Equal(t, want, path)
	}
	_, err = keep("case-3.json", &c)
	require.ErrorIs(t, err, os.ErrExist)
}
