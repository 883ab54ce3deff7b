package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/cli/clitest"
	"github.com/failaware/failaware/sim"
)

func TestSimClocks(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c.svg")
	code, out, msg := clitest.Invoke(&program, "sim", "clocks", "--scenario", "holdover,liar", "--seeds", "1", "-o", "json", "--plot", file)
	require.Zero(t, code, msg)
	var results []sim.ClockResult
	require.NoError(t, json.Unmarshal([]byte(out), &results))
	require.Len(t, results, 2)
	require.Equal(t, "liar", results[1].Scenario)
	require.Positive(t, results[0].RMSNS)
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(b), "UTCBound")
	require.Contains(t, string(b), "holdover")
}

func TestSimClocksTable(t *testing.T) {
	var b bytes.Buffer
	ns := int64(47e9)
	require.NoError(t, writeClocks(&b, []*sim.ClockResult{
		{Scenario: "a", Samples: 10, Bounded: 9, RMSNS: 12_000, Within1msNS: &ns, Monotone: true},
		{Scenario: "b", Samples: 10, Bounded: 1_000_000, Outside: 1}}))
	require.Regexp(t, `a +10 +100% +12µs .* 47s +never .* yes`, b.String())
	require.Regexp(t, `b +10 +999999 of 1000000 .* no`, b.String())
}

func TestSimClocksWrongFlags(t *testing.T) {
	for flag, says := range map[string]string{"--scenario=x": "--scenario", "--seeds=0": "--seeds", "--plot=x.gif": "--plot"} {
		code, _, msg := clitest.Invoke(&program, "sim", "clocks", flag)
		require.Equal(t, 2, code, flag)
		require.Contains(t, msg, says)
	}
	code, _, msg := clitest.Invoke(&program, "sim", "clocks", "--scenario", "liar", "--seeds", "1", "--plot", filepath.Join(t.TempDir(), "none", "x.svg"))
	require.Equal(t, 2, code)
	require.Contains(t, msg, "--plot")
}
