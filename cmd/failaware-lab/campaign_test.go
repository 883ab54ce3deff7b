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

func runCampaigns(args ...string) (code int, out, err string) {
	return clitest.Invoke(&program, append([]string{"campaign"}, args...)...)
}

func TestCampaignList(t *testing.T) {
	code, out, _ := runCampaigns("list")
	require.Zero(t, code)
	require.Contains(t, out, "rough-strict-id")
	require.Contains(t, out, "state-quorum")
	code, out, _ = runCampaigns("list", "--set", "check", "-o", "json")
	require.Zero(t, code)
	var lines []campaignLine
	require.NoError(t, json.Unmarshal([]byte(out), &lines))
	code, out, _ = runCampaigns("list", "--set", "check", "-o", "ndjson")
	require.Zero(t, code)
	require.Len(t, strings.Split(strings.TrimSpace(out), "\n"), len(lines))
	var first campaignLine
	require.NoError(t, json.NewDecoder(strings.NewReader(out)).Decode(&first))
	require.Equal(t, lines[0], first)
	for _, l := range lines {
		require.NotZero(t, l.Check, l.Name)
		require.NotEmpty(t, l.Purpose, l.Name)
	}
}

func TestCampaignRun(t *testing.T) {
	report := filepath.Join(t.TempDir(), "report.md")
	code, out, err := runCampaigns("run", "rough", "topology", "state-tight", "--seeds", "2", "--report", report)
	require.Zero(t, code, err)
	require.Len(t, strings.Split(strings.TrimSpace(out), "\n"), 4, "a head and three campaigns: %s", out)
	require.Contains(t, err, "[2/3] topology: 2 seeds")
	text, e := os.ReadFile(report)
	require.NoError(t, e)
	require.Equal(t, 3, strings.Count(string(text), "### `--campaign "), string(text))
}

// The hashes of a campaign are those of its worlds, even if other campaigns run in
// parallel.
func TestCampaignHashes(t *testing.T) {
	_, one, _ := runCampaigns("run", "mild", "broadcast", "--seeds", "3", "--hashes", "--quiet", "--jobs", "1")
	_, two, _ := runCampaigns("run", "mild", "broadcast", "--seeds", "3", "--hashes", "--quiet", "--jobs", "3")
	require.Equal(t, one, two)
	_, out, _ := runSim("--campaign", "mild", "--seeds", "3")
	require.Contains(t, one, "mild "+lastLine(t, out)["hash"].(string)+"\n")
	_, plain, _ := runSim("--seeds", "3")
	require.Equal(t, lastLine(t, plain)["hash"], lastLine(t, out)["hash"])
}

func TestSimOfACampaign(t *testing.T) {
	code, out, err := runSim("--campaign", "state", "--seed", "3", "--trace")
	require.Zero(t, code, err)
	require.Contains(t, out, "trace hash ")
	code, out, _ = runSim("--campaign", "epochs-varied", "--seed", "4")
	require.Zero(t, code)
	require.Contains(t, out, "an epoch began")
}

func TestCampaignWrongFlags(t *testing.T) {
	for _, c := range []struct{ args, says string }{
		{"campaign run moon", `no campaign "moon"`}, {"campaign run topo", "topology-strict"}, {"campaign run --set some", "--set"},
		{"campaign run --set long", "--time"}, {"campaign run --jobs 0", "--jobs"}, {"campaign run --first-seed 0", "--first-seed"},
		{"campaign run rough --time -1s", "--time"}, {"campaign run rough --report /nowhere/r.md", "--report"}, {"campaign list rough", "rough"},
		{"sim --campaign moon", "--campaign"}, {"sim --campaign rough --nodes 4", "--nodes: the campaign of --campaign determines it"},
		{"sim --campaign rough --broadcast", "--broadcast"}, {"sim --campaign state --shrink", "--shrink"}, {"sim --replay x --campaign rough", "--campaign"},
	} {
		code, _, err := clitest.Invoke(&program, strings.Fields(c.args)...)
		require.Equal(t, 2, code, c.args)
		require.Contains(t, err, c.says, c.args)
	}
}
