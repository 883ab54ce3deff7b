//go:build unix

package main

import (
	"encoding/json"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/awake"
	"github.com/failaware/failaware/internal/bench"
	"github.com/failaware/failaware/internal/cli/clitest"
)

// benchSmoke runs a benchmark with children that are this test's program.
func benchSmoke(t *testing.T, args string) map[string]any {
	t.Helper()
	usual := benchProcesses
	t.Cleanup(func() { benchProcesses = usual })
	benchProcesses = func() (bench.Launcher, error) {
		return func() *exec.Cmd { return clitest.Command("bench " + benchChild) }, nil
	}
	code, out, problems := clitest.Invoke(&program, strings.Fields("bench -o json "+args)...)
	require.Zero(t, code, problems)
	var result map[string]any
	require.NoError(t, json.Unmarshal([]byte(out), &result))
	require.NotEmpty(t, result["machine"])
	return result
}

// Timing is wide here, because a busy machine is no failure.
func TestBenchCommands(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts many processes")
	}
	r := benchSmoke(t, "election --nodes 2,3 --count 50 --first 1")
	require.Len(t, r["sizes"], 2)
	r = benchSmoke(t, "collation --nodes 6,9 --k 2 --rounds 3 --crashes 1")
	require.Len(t, r["sizes"], 2)
	r = benchSmoke(t, "idle --nodes 2 --preset wan --for 300ms")
	require.Len(t, r["nodes"], 2)
	if runtime.GOOS == "linux" {
		r = benchSmoke(t, "broadcast --nodes 2 --size 64 --atomicity strong --order timed --senders all --seconds 0.2 --packet 1200 --preset wan --procs 3")
		require.Len(t, r["cells"], 1)
		require.EqualValues(t, 3, r["procs"])
	}
}

func TestBenchSaysWhyProcessorsCannotBeKeptAwake(t *testing.T) {
	if bench.MayKeepAwake() == nil {
		t.Skip("processors can be kept awake here")
	}
	clitest.CheckWrongUsage(t, &program, strings.Fields("bench broadcast --load awake"), "--load awake: ", awake.Device)
}

func TestBenchRefusesNonsense(t *testing.T) {
	for _, args := range []string{"election --nodes 0", "election --count 0", "election --collate 1", "failover --nodes 2", "failover --preset fast",
		"split --count 0", "outage --nodes 2", "outage --size 7", "outage --atomicity x", "outage --for 0s", "clock --nodes x", "idle --for 0s", "broadcast --nodes 1", "broadcast --order x",
		"broadcast --atomicity x", "broadcast --senders some", "broadcast --seconds 0", "broadcast --procs -1", "collation --nodes 2", "collation --nodes 256",
		"collation --k 1", "collation --rounds 0", "collation --delay 1s", "nothing"} {
		code, _, problems := clitest.Invoke(&program, strings.Fields("bench "+args)...)
		require.Equal(t, 2, code, "%s: %s", args, problems)
		require.NotEmpty(t, problems)
	}
}
