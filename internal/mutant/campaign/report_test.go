//go:build mutants

package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/mutant"
	"github.com/failaware/failaware/internal/mutant/kill"
)

func row(id mutant.ID, killed bool, seeds uint64) result {
	return result{Kill: kill.Kill{Mutant: id}, killed: killed, seeds: seeds}
}

func TestACampaignFailsForSurvivorsForGapsAndForBluntness(t *testing.T) {
	good := []result{row(1, true, 3), row(2, true, 0), row(3, true, 500), row(3, true, 1)}
	s := summarize(good, 3, time.Second)
	require.True(t, s.ok())
	require.Equal(t, summary{planted: 3, killed: 3, median: 3, worst: 500, worstID: 3, took: time.Second}, s)

	s = summarize(append(good, row(2, false, 0)), 3, time.Second)
	require.False(t, s.ok(), "one of its rows failed")
	require.Equal(t, []mutant.ID{2}, s.survived)

	s = summarize(good, 4, time.Second)
	require.False(t, s.ok(), "nothing looked for it")
	require.Equal(t, []mutant.ID{4}, s.survived)

	require.False(t, summarize([]result{row(1, true, mostSeeds+1)}, 1, time.Second).ok())
}

func TestATestSaysWhichCheckAndHowManySeeds(t *testing.T) {
	r := result{Kill: kill.Kill{Test: "TestX/A/rough"}, check: "unit test"}
	r.read([]byte("=== RUN   TestX/A/rough\n=== ATTR  TestX/B/rough check LS\n" +
		"=== ATTR  TestX/A/rough check M4\n=== ATTR  TestX/A/rough seeds 12\n--- PASS: TestX/A/rough (0.00s)\n"))
	require.Equal(t, "M4", r.check)
	require.EqualValues(t, 12, r.seeds)
}
