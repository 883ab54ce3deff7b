//go:build mutants

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/mutant"
	"github.com/failaware/failaware/sim"
)

// A violation exits with 1, and prints the seed and the command that replays it.
func TestSimReportsKilled(t *testing.T) {
	mutant.Set("KeepFlagOnAck")
	defer mutant.Set(mutant.None)
	code, out, err := runSim("--seeds", "20", "--jobs", "1", "--roughness", "4")
	require.Equal(t, 1, code)
	require.Contains(t, err, "M4 broken")
	require.Contains(t, err, "replay: failaware-lab sim --seed 1 --trace --nodes 5 --mode available --rank stable --preset lan --seconds 20 --roughness 4")
	require.EqualValues(t, 1, lastLine(t, out)["violations"])
	code, _, err = runSim("--seed", "1", "--roughness", "4")
	require.Equal(t, 1, code, err)
}

// What was found is shrunk, kept, run again from its file, and drawn.
func TestSimShrinksKilled(t *testing.T) {
	mutant.Set("KeepFlagOnAck")
	defer mutant.Set(mutant.None)
	t.Chdir(t.TempDir())
	flags := strings.Fields("--seeds 20 --jobs 1 --roughness 4")
	code, out, err := runSim(append(flags, "--shrink")...)
	require.Equal(t, 1, code)
	require.Contains(t, err, "case: case-1.json\n")
	m := lastLine(t, out)
	require.Equal(t, "case-1.json", m["case"])
	faults := m["shrunk"].(map[string]any)["faults"].([]any)
	require.NotEmpty(t, faults)
	require.LessOrEqual(t, len(faults), 20)
	for i, line := range strings.Split(out, "\n")[:len(faults)] {
		require.Equal(t, faults[i], line, "the faults, one per line")
	}
	file, readErr := os.Open("case-1.json")
	require.NoError(t, readErr)
	defer file.Close()
	c, readErr := sim.ReadCase(file)
	require.NoError(t, readErr)
	require.Equal(t, "M4", c.Check)
	require.Len(t, c.Schedule.Faults, len(faults))

	code, out, err = runSim("--replay", "case-1.json", "--diagram", "case.svg", "--save", "again.json")
	require.Equal(t, 1, code)
	require.NotContains(t, err, "recorded as", "it breaks the same promise")
	require.Contains(t, err, c.Detail)
	require.Contains(t, err, "replay: failaware-lab sim --trace --replay case-1.json")
	require.Equal(t, "M4", lastLine(t, out)["violation"].(map[string]any)["check"])
	picture, readErr := os.ReadFile("case.svg")
	require.NoError(t, readErr)
	require.Contains(t, string(picture), "M4 is broken at node")
	require.Contains(t, string(picture), `class="violation"`)
	first, readErr := os.ReadFile("case-1.json")
	require.NoError(t, readErr)
	again, readErr := os.ReadFile("again.json")
	require.NoError(t, readErr)
	require.Equal(t, string(first), string(again))

	// Another search keeps what the first one wrote.
	code, out, _ = runSim("--seed", "1", "--roughness", "4", "--shrink", "-o", "json", "--diagram", "small.svg")
	require.Equal(t, 1, code)
	var result map[string]any
	require.NoError(t, json.Unmarshal([]byte(out), &result))
	require.Equal(t, "case-1-2.json", result["case"])
	require.FileExists(t, "small.svg")

	mutant.Set(mutant.None)
	code, _, err = runSim("--replay", "case-1.json")
	require.Zero(t, code)
	require.Contains(t, err, "recorded as breaking M4; now it breaks no promise")
}

// A campaign that finds something and does not shrink it keeps it as it is.
func TestSimSavesKilled(t *testing.T) {
	mutant.Set("KeepFlagOnAck")
	defer mutant.Set(mutant.None)
	file := filepath.Join(t.TempDir(), "case.json")
	code, _, err := runSim("--seeds", "20", "--jobs", "1", "--roughness", "4", "--save", file)
	require.Equal(t, 1, code)
	violation := regexp.MustCompile(`seed 1: M4 broken[^\n]*`).FindString(err)
	require.NotEmpty(t, violation)
	_, _, err = runSim("--replay", file)
	require.Contains(t, err, violation)
}
