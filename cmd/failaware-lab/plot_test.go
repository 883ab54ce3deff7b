//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
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
	for _, name := range []string{"election-times.svg", "election-means.svg"} {
		require.Contains(t, out, filepath.Join(dir, name))
		info, err := os.Stat(filepath.Join(dir, name))
		require.NoError(t, err)
		require.Positive(t, info.Size())
	}
}

// The figures of docs/benchmarks.md are what plot draws of the results beside them.
func TestFiguresOfBenchmarksAreCurrent(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("coordinates may differ in the last digit")
	}
	figures := filepath.Join("..", "..", "docs", "figures")
	dir := t.TempDir()
	for _, name := range []string{"election", "election-collated-8", "split", "collation"} {
		code, _, problems := runPlot("", filepath.Join(figures, name+".json"), "--dir", dir)
		require.Zero(t, code, problems)
	}
	drawn, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, drawn, 5)
	for _, f := range drawn {
		got, err := os.ReadFile(filepath.Join(dir, f.Name()))
		require.NoError(t, err)
		want, err := os.ReadFile(filepath.Join(figures, f.Name()))
		require.NoError(t, err)
		require.True(t, bytes.Equal(got, want), "docs/figures/%s: run failaware-lab plot again", f.Name())
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
	} {
		code, _, problems := runPlot("", c.args...)
		require.Equal(t, 2, code, c.args)
		require.Contains(t, problems, c.want, c.args)
	}
	code, _, problems := runPlot(strings.Repeat(" ", maxResult+1), "-", "--dir", dir)
	require.Equal(t, 2, code)
	require.Contains(t, problems, "longer than")
}
