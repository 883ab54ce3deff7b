package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/cli/clitest"
)

func runExhaust(args ...string) (code int, out, err string) {
	return clitest.Invoke(&program, append([]string{"exhaust", "--quiet"}, args...)...)
}

func TestExhaust(t *testing.T) {
	code, out, err := runExhaust("--depth", "4", "-o", "json")
	require.Zero(t, code, err)
	var r map[string]any
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	for _, key := range []string{"states", "transitions", "turns", "leaves", "depth", "layers", "worst_rest_ns", "bound_ns", "seconds"} {
		require.Contains(t, r, key)
	}
	require.Equal(t, true, r["exhausted"])
	require.EqualValues(t, 4, r["depth"])
	require.NotContains(t, r, "violation")

	code, out, err = runExhaust("--depth", "4", "--mode", "strict", "--rank", "id", "--preset", "local", "--rates", "every", "--start", "led,apart")
	require.Zero(t, code, err)
	require.Regexp(t, `exhausted +yes`, out)
}

// A limit that ends the search is no error, but the search is not exhausted.
func TestExhaustLimits(t *testing.T) {
	for _, limit := range [][]string{{"--states", "50"}, {"--time", "1ns"}} {
		code, out, err := runExhaust(append(limit, "--depth", "20")...)
		require.Zero(t, code, err)
		require.Regexp(t, `exhausted +no`, out)
		require.Regexp(t, `stopped by +(states|time)`, out)
	}
}

// What an interrupted search has found is printed.
func TestExhaustInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var o, e bytes.Buffer
	code := program.Run(ctx, []string{"exhaust", "--depth", "30", "-o", "json"}, strings.NewReader(""), &o, &e)
	require.Equal(t, 1, code)
	var r map[string]any
	require.NoError(t, json.Unmarshal(o.Bytes(), &r))
	require.Equal(t, "interrupted", r["stopped"])
}

func TestExhaustWrongFlags(t *testing.T) {
	dir := t.TempDir()
	junk := filepath.Join(dir, "junk.json")
	require.NoError(t, os.WriteFile(junk, []byte(`{"states": 3}`), 0o600))
	for _, c := range []struct{ args, says string }{
		{"--nodes 0", "--nodes"}, {"--nodes 5", "--nodes"}, {"--depth 0", "--depth"}, {"--faults -1", "--faults"},
		{"--crashes -1", "--crashes"}, {"--stalls 101", "--stalls"}, {"--states 0", "--states"}, {"--time -1s", "--time"},
		{"--start warm", "--start"}, {"--rates odd", "--rates"}, {"--mode fast", "--mode"}, {"--rank age", "--rank"},
		{"--preset moon", "--preset"}, {"--replay " + dir + "/none", "--replay"}, {"--replay " + junk, "it has no path"}, {"extra", "extra"},
	} {
		code, _, err := runExhaust(strings.Fields(c.args)...)
		require.Equal(t, 2, code, c.args)
		require.Contains(t, err, c.says, c.args)
	}
}
