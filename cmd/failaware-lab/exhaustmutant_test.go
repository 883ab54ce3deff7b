//go:build mutants

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/mutant"
)

// A violation exits with 1 and prints its path, which can be gone again: with
// the bug it ends in the same violation, without it in none.
func TestExhaustReportsKilled(t *testing.T) {
	mutant.Set("RenewForgottenView")
	defer mutant.Set(mutant.None)
	code, out, err := runExhaust("--start", "apart", "-o", "json")
	require.Equal(t, 1, code)
	require.Contains(t, err, "M4 broken")
	var r struct {
		Violation struct {
			Check string   `json:"check"`
			Steps []string `json:"steps"`
		} `json:"violation"`
	}
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	require.Equal(t, "M4", r.Violation.Check)
	require.NotEmpty(t, r.Violation.Steps)

	file := filepath.Join(t.TempDir(), "path.json")
	require.NoError(t, os.WriteFile(file, []byte(out), 0o600))
	code, out, err = runExhaust("--replay", file)
	require.Equal(t, 1, code)
	require.Contains(t, err, "M4 broken")
	for _, s := range r.Violation.Steps {
		require.Contains(t, out, s)
	}
	mutant.Set(mutant.None)
	code, _, err = runExhaust("--replay", file)
	require.Zero(t, code, err)
}
