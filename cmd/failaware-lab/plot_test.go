//go:build unix

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/cli/clitest"
)

func runPlot(in string, args ...string) (code int, out, err string) {
	return clitest.InvokeWith(&program, in, append([]string{"plot"}, args...)...)
}

// What a benchmark prints is what plot draws.
func TestPlotDrawsABenchmark(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts processes")
	}
	result, err := json.Marshal(benchSmoke(t, "election --nodes 2,3 --count 50 --first 0"))
	require.NoError(t, err)
	dir := filepath.Join(t.TempDir(), "new")
	code, out, problems := runPlot(string(result), "-", "--dir", dir)
	require.Zero(t, code, problems)
	for _, name := range []string{"election-times.svg", "election-times.png", "election-means.svg", "election-means.png"} {
		require.Contains(t, out, filepath.Join(dir, name))
		info, err := os.Stat(filepath.Join(dir, name))
		require.NoError(t, err)
		require.Positive(t, info.Size())
	}
}

func TestPlotRefusesNonsense(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, []byte("no result"), 0o600))
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "requires at least 1 arg"},
		{[]string{filepath.Join(dir, "missing.json")}, "missing.json: no such file"},
		{[]string{file, "--dir", dir}, "not a benchmark's result in JSON"},
		{[]string{file, "--dir", filepath.Join(file, "x")}, "--dir"},
		{[]string{file, "--format", "gif"}, "--format gif"},
	} {
		code, _, problems := runPlot("", c.args...)
		require.Equal(t, 2, code, c.args)
		require.Contains(t, problems, c.want, c.args)
	}
	code, _, problems := runPlot(strings.Repeat(" ", maxResult+1), "-", "--dir", dir)
	require.Equal(t, 2, code)
	require.Contains(t, problems, "longer than")
}
