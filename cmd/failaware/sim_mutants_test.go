//go:build mutants

package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/mutant"
)

// A violation exits with 1, and prints the seed and the command that replays it.
func TestSimReportsKilled(t *testing.T) {
	mutant.Set(mutant.KeepFlagOnAck)
	defer mutant.Set(mutant.None)
	code, out, err := runSim("--seeds", "20", "--jobs", "1", "--roughness", "4")
	require.Equal(t, 1, code)
	require.Contains(t, err, "M4 broken")
	require.Contains(t, err, "replay: failaware sim --seed 1 --trace --nodes 5 --mode available --rank stable --preset lan --seconds 20 --roughness 4")
	require.EqualValues(t, 1, lastLine(t, out)["violations"])
	code, _, err = runSim("--seed", "1", "--roughness", "4")
	require.Equal(t, 1, code, err)
}
