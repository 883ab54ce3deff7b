package main

import (
	"encoding/json"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestSimSummary(t *testing.T) {
	code, out, err := runSim("--seeds", "5", "--seconds", "10")
	require.Zero(t, code, err)
	require.Regexp(t, `^5 seeds, 50 s simulated in .*: \d+ times real time, \d+\.\d\d M events/s\n`, out)
	m := lastLine(t, out)
	faults := m["faults"].(map[string]any)
	require.Regexp(t, `\n +`+number(faults["wander"])+` +wander\n`, out)
	situations := m["sometimes"].(map[string]any)
	require.Regexp(t, `\n +`+number(situations["two led at once"])+` +two led at once\n`, out)
	never := m["never_reached"].([]any)
	require.NotEmpty(t, never, "five seeds are few")
	for _, what := range never {
		require.Regexp(t, `\n +NEVER +`+regexp.QuoteMeta(what.(string))+`\n`, out)
	}
	require.Contains(t, out, "the bound is")
}

func number(x any) string {
	b, _ := json.Marshal(x)
	return string(b)
}

func TestSimTime(t *testing.T) {
	began := time.Now()
	code, out, err := runSim("--time", "300ms", "--seconds", "1")
	require.Zero(t, code, err)
	require.GreaterOrEqual(t, time.Since(began), 300*time.Millisecond)
	unbounded := lastLine(t, out)["seeds"].(float64)
	require.NotZero(t, unbounded)
	code, out, err = runSim("--time", "1h", "--seconds", "1", "--seeds", "2")
	require.Zero(t, code, err)
	require.EqualValues(t, 2, lastLine(t, out)["seeds"])
}

func TestSimRequireCoverage(t *testing.T) {
	code, out, err := runSim("--seeds", "1", "--seconds", "1", "--require-coverage")
	require.Equal(t, 1, code)
	for _, what := range lastLine(t, out)["never_reached"].([]any) {
		require.Contains(t, err, "failaware-lab: --require-coverage: never reached: "+what.(string)+"\n")
	}
}

func TestGrouped(t *testing.T) {
	for x, want := range map[float64]string{0: "0", 12.34: "12.34", 999: "999", 1000: "1,000", 123456: "123,456", 1234567.4: "1,234,567"} {
		require.Equal(t, want, grouped(x))
	}
}
