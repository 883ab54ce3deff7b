package main

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/cli/clitest"
	"github.com/failaware/failaware/internal/race"
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
	seeds := 10
	if race.Enabled {
		seeds = 3 // more seeds run no other goroutines
	}
	for _, mode := range []string{"strict", "available"} {
		for _, rank := range []string{"id", "stable"} {
			code, out, err := runSim("--seeds", strconv.Itoa(seeds), "--seconds", "20", "--nodes", "5", "--mode", mode, "--rank", rank)
			require.Zero(t, code, err)
			m := lastLine(t, out)
			for _, key := range []string{"seeds", "simulated_seconds", "events", "events_per_second", "violations",
				"stable_periods", "missed_liveness", "worst_election_ms", "worst_view_ms", "led", "fresh"} {
				require.Contains(t, m, key)
			}
			require.Zero(t, m["violations"])
			require.Zero(t, m["missed_liveness"])
			require.EqualValues(t, seeds, m["seeds"])
			require.NotZero(t, m["stable_periods"])
			require.Less(t, m["worst_view_ms"].(float64), m["bound_view_ms"].(float64)+m["rejoin_ms"].(float64))
		}
	}
}
