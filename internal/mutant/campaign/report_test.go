package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/mutant/planted"
)

var bugs = []*planted.Mutant{
	{Name: "A", Layer: "leader 1", Rule: "one"}, {Name: "B", Layer: "leader", Rule: "two"}, {Name: "C"}, {Name: "D"},
}

func row(bug int, killed bool, seeds uint64) result {
	return result{Kill: planted.Kill{Mutant: bugs[bug]}, killed: killed, seeds: seeds}
}

func TestACampaignFailsForSurvivorsForGapsAndForBluntness(t *testing.T) {
	good := []result{row(0, true, 3), row(1, true, 0), row(2, true, 500), row(2, true, 1)}
	s := summarize(good, bugs[:3], time.Second)
	require.True(t, s.ok())
	require.Equal(t, summary{planted: 3, killed: 3, median: 3, worst: 500, worstBy: "C", took: time.Second}, s)

	s = summarize(append(good, row(1, false, 0)), bugs[:3], time.Second)
	require.False(t, s.ok(), "one of its kills failed")
	require.Equal(t, []string{"B"}, s.survived)

	s = summarize(good, bugs, time.Second)
	require.False(t, s.ok(), "it has no kill")
	require.Equal(t, []string{"D"}, s.survived)

	require.False(t, summarize([]result{row(0, true, mostSeeds+1)}, bugs[:1], time.Second).ok())
}

func TestATestSaysWhichCheckAndHowManySeeds(t *testing.T) {
	r := result{Kill: planted.Kill{Test: "TestX/A/rough"}, check: "unit test"}
	r.read([]byte("=== RUN   TestX/A/rough\n=== ATTR  TestX/B/rough check LS\n" +
		"=== ATTR  TestX/A/rough check M4\n=== ATTR  TestX/A/rough seeds 12\n--- PASS: TestX/A/rough (0.00s)\n"))
	require.Equal(t, "M4", r.check)
	require.EqualValues(t, 12, r.seeds)
}

func TestTheTableOfADocumentIsReplaced(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mutants.md")
	require.NoError(t, os.WriteFile(file, []byte("before\n\n"+tableHeading+"\n\nold\n\n## Next\n\nafter\n"), 0o600))
	a, b := row(0, true, 3), row(1, true, 0)
	a.check, a.World, b.check, b.Package = "M4", "rough", "unit test", "."
	require.NoError(t, document(file, []result{a, b}, summary{planted: 2, killed: 2, median: 3, worst: 3, worstBy: "A"}))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, strings.Join([]string{"before", "", tableHeading, "",
		"2 planted, 2 killed; seeds: median 3, worst 3 (A).", "",
		"| mutant | layer, rule | the rule | noticed by | seeds | where |", "| --- | --- | --- | --- | --: | --- |",
		"| A | leader 1 | one | M4 | 3 | rough |", "| B | leader | two | unit test | – | the library |", "", "## Next", "", "after", ""}, "\n"), string(text))

	require.NoError(t, os.WriteFile(file, []byte("nothing"), 0o600))
	require.ErrorContains(t, document(file, nil, summary{}), tableHeading)
}
