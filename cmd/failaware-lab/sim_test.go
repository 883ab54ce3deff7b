package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/cli/clitest"
)

func runSim(args ...string) (code int, out, err string) {
	return clitest.Invoke(&program, append([]string{"sim", "--quiet"}, args...)...)
}

func lastLine(t *testing.T, out string) map[string]any {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(out), "\n")
	var m map[string]any
	require.NoError(t, json.Unmarshal([]byte(lines[len(lines)-1]), &m), out)
	return m
}

func TestSimCampaign(t *testing.T) {
	for _, mode := range []string{"strict", "available"} {
		for _, rank := range []string{"id", "stable"} {
			code, out, err := runSim("--seeds", "10", "--seconds", "20", "--nodes", "5", "--mode", mode, "--rank", rank)
			require.Zero(t, code, err)
			m := lastLine(t, out)
			for _, key := range []string{"seeds", "simulated_seconds", "events", "events_per_second", "violations",
				"stable_periods", "missed_liveness", "worst_election_ms", "worst_view_ms", "led", "fresh"} {
				require.Contains(t, m, key)
			}
			require.Zero(t, m["violations"])
			require.Zero(t, m["missed_liveness"])
			require.EqualValues(t, 10, m["seeds"])
			require.NotZero(t, m["stable_periods"])
			require.Less(t, m["worst_view_ms"].(float64), m["bound_view_ms"].(float64)+m["rejoin_ms"].(float64))
		}
	}
}

func TestSimTrace(t *testing.T) {
	_, a, _ := runSim("--seed", "3", "--trace", "--seconds", "2")
	_, b, _ := runSim("--seed", "3", "--trace", "--seconds", "2")
	trim := func(s string) string { return s[:strings.LastIndex(strings.TrimSpace(s), "\n")] }
	require.Equal(t, trim(a), trim(b), "same seed, same trace")
	require.Contains(t, a, "LEADS")
	require.Contains(t, a, "trace hash "+lastLine(t, a)["hash"].(string))
}

func TestSimJobsDoNotMatter(t *testing.T) {
	_, one, _ := runSim("--seeds", "8", "--seconds", "5", "--jobs", "1")
	_, two, _ := runSim("--seeds", "8", "--seconds", "5", "--jobs", "2")
	require.Equal(t, lastLine(t, one)["hash"], lastLine(t, two)["hash"])
}

func TestSimTopologies(t *testing.T) {
	for _, mode := range []string{"strict", "available"} {
		code, out, err := runSim("--topologies", "20", "--nodes", "6", "--mode", mode)
		require.Zero(t, code, err)
		require.EqualValues(t, 20, lastLine(t, out)["seeds"])
	}
}

func TestSimWrongFlags(t *testing.T) {
	for _, c := range []struct{ args, says string }{
		{"--mode fast", "--mode"}, {"--rank age", "--rank"}, {"--preset moon", "--preset"},
		{"--nodes 0", "--nodes"}, {"--nodes 256", "--nodes"}, {"--collate 1", "--collate"}, {"--collate 65", "--collate"}, {"--seconds 0", "--seconds"}, {"--seconds NaN", "--seconds"},
		{"--roughness 0", "--roughness"}, {"--jobs 0", "--jobs"}, {"--seeds 0", "--seeds"}, {"--trace", "--seed"},
		{"--topologies 5 --nodes 20", "--nodes"}, {"--bogus", "bogus"}, {"extra", "extra"},
	} {
		code, _, err := runSim(strings.Fields(c.args)...)
		require.Equal(t, 2, code, c.args)
		require.Contains(t, err, c.says, c.args)
		require.NotContains(t, err, "goroutine")
	}
}
