package sim

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/sim/fault"
	"github.com/failaware/failaware/timed"
)

// A case that was written and read runs as the seed did.
func TestCasesKeepEverything(t *testing.T) {
	custom := timed.LAN()
	custom.Expires += time.Millisecond
	for seed, opt := range []Options{{}, {Roughness: 4, Nodes: 7, Mode: leader.Strict, RankBy: leader.ByID}, {BrokenClocks: true, Codec: true},
		{Timing: custom}, {Timing: timed.WAN(), Duration: time.Minute}, {Restless: true, Unequal: true, Resolution: time.Microsecond}} {
		want, err := Run(uint64(seed+1), opt)
		require.NoError(t, err)
		c, err := CaseOf(uint64(seed+1), opt)
		require.NoError(t, err)
		c.Check, c.Detail, c.Note = "M4", "how", "why"
		var b bytes.Buffer
		require.NoError(t, c.Write(&b))
		read, err := ReadCase(&b)
		require.NoError(t, err)
		c.Options.Roughness = 0 // is for drawing schedules
		require.Equal(t, c, read)
		got, err := read.Run()
		require.NoError(t, err)
		require.Equal(t, want.Hash, got.Hash)
		require.Equal(t, want, got)
	}
}

// Sets of nodes are lists of numbers, for people write cases too.
func TestSetsInCases(t *testing.T) {
	c, err := CaseOf(1, Options{Calm: true, Faults: []fault.Fault{{At: time.Second, For: time.Second, Kind: fault.Heal,
		Blocks: []timed.Set{timed.SetOf(1, 2), timed.SetOf(3, 4, 5)}, Down: timed.SetOf(5)}}})
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, c.Write(&b))
	text := strings.Join(strings.Fields(b.String()), "")
	require.Contains(t, text, `"blocks":[[1,2],[3,4,5]],"down":[5]`)
	for _, wrong := range []string{"[0]", "[256]", "[-1]", "[1.5]", `"AQ=="`} {
		_, err := ReadCase(strings.NewReader(strings.Replace(text, "[5]", wrong, 1)))
		require.Error(t, err, wrong)
	}
}

func TestCasesThatAreRefused(t *testing.T) {
	c, err := CaseOf(1, Options{Calm: true, Faults: []fault.Fault{{At: time.Second, Kind: fault.Cut, Node: 1, Peer: 2}, {At: 2 * time.Second, Kind: fault.Resign, Node: 1}}})
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, c.Write(&b))
	good := b.String()
	_, err = ReadCase(strings.NewReader(good))
	require.NoError(t, err)
	for _, wrong := range [][]string{
		{`"failaware_case": 1`, `"failaware_case": 2`, "format 2"},
		{`"seed"`, `"sead"`, "sead"},
		{`"cut"`, `"cat"`, "cat"},
		{`"peer": 2`, `"peer": 9`, "1→9"},
		{`"available"`, `"loose"`, "loose"},
		{`"lan"`, `"moon"`, "moon"},
		{`"at": "1s"`, `"at": "3s"`, "before the one that precedes it"},
		{`"at": "1s"`, `"at": "soon"`, "soon"},
		{`"cut"`, `"clock stop"`, "BrokenClocks"},
		{`"min_delay": "`, `"min_delay": "-`, "least delay"},
		{`{`, `[`, "not a case"},
	} {
		require.Contains(t, good, wrong[0])
		_, err := ReadCase(strings.NewReader(strings.Replace(good, wrong[0], wrong[1], 1)))
		require.ErrorContains(t, err, wrong[2], wrong[1])
	}
	require.True(t, slices.Contains(timed.Presets(), c.Preset()))
}

// The schedule of a long run has more faults than options may have.
func TestLongRunsAreCases(t *testing.T) {
	c, err := CaseOf(1, Options{Duration: 40_000 * time.Second})
	require.NoError(t, err)
	require.Greater(t, len(c.Schedule.Faults), MaxFaults)
	_, err = c.World()
	require.NoError(t, err)
}
