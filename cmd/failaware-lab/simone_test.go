package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/cli/clitest"
	"github.com/failaware/failaware/sim"
)

// One JSON object and nothing else, in each of the forms for scripts.
func TestSimJSON(t *testing.T) {
	for _, form := range []string{"json", "ndjson"} {
		code, out, err := runSim("--seeds", "3", "--seconds", "3", "-o", form)
		require.Zero(t, code, err)
		var m map[string]any
		d := json.NewDecoder(strings.NewReader(out))
		require.NoError(t, d.Decode(&m))
		require.False(t, d.More())
		require.EqualValues(t, 3, m["seeds"])
	}
	code, out, err := runSim("--seed", "3", "--seconds", "3", "--diagram", filepath.Join(t.TempDir(), "x.svg"), "-o", "json")
	require.Zero(t, code, err)
	var m map[string]any
	require.NoError(t, json.Unmarshal([]byte(out), &m))
	require.Contains(t, m["diagram"], "x.svg")
}

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

// A single run is the same run as in a campaign.
func TestSimSeedIsThatOfACampaign(t *testing.T) {
	flags := []string{"--seconds", "5", "--roughness", "3", "--codec"}
	_, one, _ := runSim(append(flags, "--seed", "7")...)
	_, campaign, _ := runSim(append(flags, "--first-seed", "7", "--seeds", "1")...)
	require.Equal(t, lastLine(t, campaign)["hash"], lastLine(t, one)["hash"])
	require.Contains(t, one, "1 seed, 5 s simulated")
	require.NotContains(t, one, "NEVER")
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

func TestSimCalm(t *testing.T) {
	code, out, err := runSim("--calm", "--seeds", "2", "--seconds", "5", "--require-coverage")
	require.Zero(t, code, err)
	for class, n := range lastLine(t, out)["faults"].(map[string]any) {
		require.Zero(t, n, class)
	}
}

func TestSimBrokenClocks(t *testing.T) {
	code, out, err := runSim("--broken-clocks", "--seeds", "10", "--seconds", "10")
	require.Zero(t, code, err)
	require.NotZero(t, lastLine(t, out)["faults"].(map[string]any)["broken clock"])
}

func TestSimRequireCoverage(t *testing.T) {
	code, out, err := runSim("--seeds", "1", "--seconds", "1", "--require-coverage")
	require.Equal(t, 1, code)
	for _, what := range lastLine(t, out)["never_reached"].([]any) {
		require.Contains(t, err, "failaware-lab: --require-coverage: never reached: "+what.(string)+"\n")
	}
	code, _, err = runSim("--first-seed", "121", "--seeds", "60", "--roughness", "2", "--require-coverage")
	require.Zero(t, code, err)
}

// A case that was saved is the run that it was saved of, and can be changed.
func TestSimSaveAndReplay(t *testing.T) {
	file := filepath.Join(t.TempDir(), "seven.json")
	_, want, err := runSim("--seed", "7", "--seconds", "5", "--roughness", "3", "--mode", "strict", "--save", file)
	require.Contains(t, err, "case: "+file)
	require.Equal(t, file, lastLine(t, want)["case"])
	code, got, err := runSim("--replay", file)
	require.Zero(t, code, err)
	require.Empty(t, err)
	require.Equal(t, lastLine(t, want)["hash"], lastLine(t, got)["hash"])
	require.Contains(t, got, "the case, 5 s simulated")

	text, readErr := os.ReadFile(file)
	require.NoError(t, readErr)
	code, traced, err := clitest.InvokeWith(&program, string(text), "sim", "--replay", "-", "--trace")
	require.Zero(t, code, err)
	require.Contains(t, traced, "LEADS")
	require.Contains(t, traced, "! begins: ")

	recorded := strings.Replace(string(text), `"seed"`, `"check": "M4", "seed"`, 1)
	claims := filepath.Join(t.TempDir(), "claims.json")
	require.NoError(t, os.WriteFile(claims, []byte(recorded), 0o600))
	code, _, err = runSim("--replay", claims)
	require.Zero(t, code)
	require.Contains(t, err, "recorded as breaking M4; now it breaks no promise")

	code, _, err = runSim("--seed", "7", "--save", file)
	require.Equal(t, 2, code)
	require.Contains(t, err, "--save: "+file+" exists")
	after, readErr := os.ReadFile(file)
	require.NoError(t, readErr)
	require.Equal(t, text, after)
}

func TestSimNothingToShrink(t *testing.T) {
	t.Chdir(t.TempDir())
	code, _, err := runSim("--seed", "7", "--seconds", "2", "--shrink")
	require.Zero(t, code)
	require.Contains(t, err, "nothing to shrink")
	files, readErr := os.ReadDir(".")
	require.NoError(t, readErr)
	require.Empty(t, files)
}

func TestSimDiagram(t *testing.T) {
	dir := t.TempDir()
	svg, picture := filepath.Join(dir, "run.svg"), filepath.Join(dir, "other.SVG")
	code, _, err := runSim("--seed", "3", "--seconds", "4", "--diagram", svg, "--from", "2s", "--to", "2500ms")
	require.Zero(t, code, err)
	require.Contains(t, err, "2s to 2.5s")
	text, readErr := os.ReadFile(svg)
	require.NoError(t, readErr)
	require.Contains(t, string(text), "Seed 3")
	require.Contains(t, string(text), "5 nodes, mode available, rank stable, timing lan")
	require.Contains(t, string(text), "5 nodes from 2s to 2.5s")

	code, _, err = runSim("--seed", "3", "--seconds", "4", "--diagram", picture)
	require.Zero(t, code, err)
	require.Contains(t, err, "0s to 1s")
	require.FileExists(t, picture)

	for args, window := range map[string]string{"--from 500ms": "500ms to 1.5s", "--to 1500ms": "500ms to 1.5s", "--from 3500ms": "3.5s to 4s"} {
		_, _, err = runSim(append(strings.Fields("--seed 3 --seconds 4 --diagram "+svg), strings.Fields(args)...)...)
		require.Contains(t, err, window, args)
	}
	code, _, err = runSim("--seed", "3", "--seconds", "4", "--diagram", svg, "--from", "9s")
	require.Equal(t, 1, code)
	require.Contains(t, err, "--diagram: nothing is left to draw: the run ends after 4s")
}

func TestSimReport(t *testing.T) {
	file := filepath.Join(t.TempDir(), "report.md")
	for _, args := range []string{"--seeds 5 --seconds 10 --mode strict --jobs 2", "--topologies 3 --nodes 6", "--seed 9 --seconds 2"} {
		code, _, err := runSim(append(strings.Fields(args), "--report", file)...)
		require.Zero(t, code, err)
	}
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	text := string(b)
	require.Equal(t, 3, strings.Count(text, "\n### ")+1)
	for _, want := range []string{"### `--nodes 5 --mode strict --rank stable --preset lan --seconds 10 --roughness 1`",
		time.Now().UTC().Format("2006-"), "commit ", "| seeds | 5, from 1 |", "| simulated hours | 0.0 |", "| events | ", "M events/s",
		"| partitions | ", "| crashes, restarts | ", "| **violations** | **0** |", "Faults: ", "wander ", "Never reached: ",
		"--topologies 3", "| seeds | 1, from 9 |"} {
		require.Contains(t, text, want)
	}
}

func TestGrouped(t *testing.T) {
	for x, want := range map[float64]string{0: "0", 12.34: "12.34", 999: "999", 1000: "1,000", 123456: "123,456", 1234567.4: "1,234,567"} {
		require.Equal(t, want, grouped(x))
	}
}

func TestSimWrongCombinations(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "case.json")
	c, err := sim.CaseOf(1, sim.Options{Calm: true, Duration: time.Second})
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, c.Write(&b))
	require.NoError(t, os.WriteFile(file, b.Bytes(), 0o600))
	bad := filepath.Join(dir, "bad.json")
	require.NoError(t, os.WriteFile(bad, []byte(`{"failaware_case": 1, "nodes": 300, "mode": "strict", "rank": "id", "preset": "lan"}`), 0o600))
	for args, says := range map[string]string{
		"--time 0s":                                  "--time: 0s is not above 0",
		"--time -1s":                                 "--time: -1s is not above 0",
		"--seed 0":                                   "--seed: must be at least 1",
		"--first-seed 0":                             "--first-seed: must be at least 1",
		"--seed 1 --seeds 2":                         "--seeds: is for campaigns",
		"--seed 1 --time 1s":                         "--time: is for campaigns",
		"--seed 1 --jobs 2":                          "--jobs: is for campaigns",
		"--seed 1 --require-coverage":                "--require-coverage: is for campaigns",
		"--replay " + file + " --seed 1":             "--seed: the case of --replay determines it",
		"--replay " + file + " --nodes 3":            "--nodes: the case of --replay determines it",
		"--replay " + file + " --calm":               "--calm: the case of --replay determines it",
		"--replay " + dir + "/none":                  "--replay: open " + dir + "/none: no such file",
		"--replay " + bad:                            "--replay: " + bad + ": sim: 300 nodes: must be 1 to 255",
		"--replay Makefile":                          "--replay",
		"--topologies 2 --seeds 3":                   "--seeds: --topologies determines the number",
		"--topologies 2 --broken-clocks":             "--topologies: has no random faults",
		"--topologies 2 --shrink":                    "--shrink: cannot be combined with --topologies",
		"--topologies 2 --save x":                    "--save: cannot be combined with --topologies",
		"--topologies 2 --require-coverage":          "--require-coverage: cannot be combined with --topologies",
		"--seed 1 --topologies 1 --diagram x":        "--diagram: cannot be combined with --topologies",
		"--calm --roughness 2":                       "--roughness: a calm world has no random faults",
		"--trace":                                    "--trace: needs --seed or --replay",
		"--seed 1 --trace -o json":                   "--trace: prints lines of text and cannot be combined with -o json",
		"--diagram x.svg":                            "--diagram: needs --seed or --replay",
		"--seed 1 --diagram x.gif":                   "--diagram: the name \"x.gif\" must end in .svg",
		"--seed 1 --from 1s":                         "--from: needs --diagram",
		"--seed 1 --to 1s":                           "--to: needs --diagram",
		"--seed 1 --diagram x.svg --from -1s":        "--from: -1s is below 0",
		"--seed 1 --diagram x.svg --from 2s --to 1s": "--to: 1s is not after --from, 2s",
		"--seed 1 --diagram " + dir + "/no/x.svg":    "--diagram: stat " + dir + "/no: no such file",
		"--seed 1 --save " + dir + "/no/x":           "--save: stat " + dir + "/no: no such file",
		"--report " + dir + "/no/x":                  "--report: open " + dir + "/no/x: no such file",
		"--seed 1 --save=":                           "--save: needs the name of a file",
		"--seed 1 --diagram=":                        "--diagram: needs the name of a file",
		"--report=":                                  "--report: needs the name of a file",
		"--replay=":                                  "--replay: needs the name of a file",
	} {
		code, out, err := runSim(strings.Fields(args)...)
		require.Equal(t, 2, code, args)
		require.Empty(t, out, args)
		require.Contains(t, err, says, args)
		require.Equal(t, 1, strings.Count(err, "\n"), err)
	}
}
