//go:build unix

package main

import (
	"bytes"
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

// The figures of docs/reference/benchmarks.md are drawn by plot from the results beside them.
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

func TestPlotReadsSmallResultsOnly(t *testing.T) {
	code, _, problems := runPlot(strings.Repeat(" ", maxResult+1), "-", "--dir", t.TempDir())
	require.Equal(t, 2, code)
	require.Contains(t, problems, "longer than")
}
