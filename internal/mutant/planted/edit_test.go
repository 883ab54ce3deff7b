package planted

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

const source = `package a // the package

import "fmt"

func f(a, b bool) bool {
	if a { // a reason
		return true
	}
	if b {
		return true
	}
	return false
}

func g() { fmt.Println() }
`

// plant applies a table to [source], which is file a/a.go.
func plant(t *testing.T, entries string) (string, error) {
	t.Helper()
	table, err := parse(fstest.MapFS{"a.txt": {Data: []byte(entries)}})
	if err != nil {
		return "", err
	}
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "a"), 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a", "a.go"), []byte(source), 0o666))
	files, err := table.mutated(dir)
	return strings.ReplaceAll(files["a/a.go"], dir, "ROOT"), err
}

func TestEditsAreApplied(t *testing.T) {
	text, err := plant(t, `mutant X
edit a/a.go
-	if a {
+	if a && !mutant.On("X") {

# A shared edit, in two places.
mutant Y
edit a/a.go
+	if mutant.On("Y") {
+		return b
+	}
 	if b {
 		return true
 	}
-	return false
+	return mutant.On("X")
`)
	require.NoError(t, err)
	require.Equal(t, `package a; import "github.com/failaware/failaware/internal/mutant" // the package

import "fmt"

func f(a, b bool) bool {
//line ROOT/internal/mutant/planted/a.txt:4
	if a && !mutant.On("X") {
//line ROOT/a/a.go:7
		return true
	}
//line ROOT/internal/mutant/planted/a.txt:9
	if mutant.On("Y") {
		return b
	}
//line ROOT/a/a.go:9
	if b {
		return true
	}
//line ROOT/internal/mutant/planted/a.txt:16
	return mutant.On("X")
//line ROOT/a/a.go:13
}

func g() { fmt.Println() }
`, text)
}

func TestAnInsertionMayPrecedeAReplacedLine(t *testing.T) {
	text, err := plant(t, "mutant X\nedit a/a.go\n-\tif b {\n+\tif a && b {\nmutant Y\nedit a/a.go\n+\tb = true\n \tif b {\n")
	require.NoError(t, err)
	require.Less(t, strings.Index(text, "b = true"), strings.Index(text, "if a && b"))
}

// Every message names the entry.
func TestFaultyEntriesAreReported(t *testing.T) {
	for entries, want := range map[string]string{
		"mutant X\nedit a/a.go\n-\tif c {\n+\tif d {":                                       "a.txt:2: X: the lines with ' ' and '-' do not stand in a/a.go: the code has changed",
		"mutant X\nedit a/a.go\n \t\treturn true\n+\t\tpanic(1)":                            "stand in a/a.go 2 times, first at lines 7 and 10: add lines of context",
		"mutant X\nedit a/a.go\n+\tpanic(1)":                                                "do not stand in a/a.go",
		"mutant X\nedit b/b.go\n-\tif b {":                                                  "a.txt:2: X: the lines with ' ' and '-' do not stand in b/b.go: if the code has moved, change the path to a/a.go",
		"mutant X\nedit a/a.go\n-\tif b {\n+\tif a {\nmutant Y\nedit a/a.go\n-\tif b {\n+x": "a.txt:6: Y changes the same place of a/a.go as X",
		"mutant X\nedit a/a.go\n+y\n \tif b {\nmutant Y\nedit a/a.go\n+x\n \tif b {":        "a.txt:6: Y changes the same place of a/a.go as X",
		"edit a/a.go":                        `a.txt:1: "edit a/a.go" stands before the first line "mutant NAME"`,
		"mutant":                             "lacks a value",
		"mutant X\nrules":                    "lacks a value",
		"mutant X\nrules all":                `a line begins with mutant, layer, rule, world, test or edit, and not with "rules"`,
		"mutant X\nworld rough M4":           `a.txt:2: want "world NAME CHECK SEEDS [from SEED]"`,
		"mutant X\nworld rough M4 ten":       `"ten" is no number of seeds`,
		"mutant X\nworld rough M4 10 seed 5": `a.txt:2: want "world NAME CHECK SEEDS [from SEED]"`,
		"mutant X\nworld rough M4 10 from 0": `"0" is no seed`,
		"mutant X\ntest a b c":               `want "test PACKAGE [TEST]"`,
	} {
		_, err := plant(t, entries)
		require.ErrorContains(t, err, want, entries)
	}
}

func TestKillsAreRead(t *testing.T) {
	table, err := parse(fstest.MapFS{"a.txt": {Data: []byte("mutant X\nlayer leader 4\nrule one vote\nworld rough M4 10\nworld wan any 5 from 7\ntest leader\ntest . TestY\n")}})
	require.NoError(t, err)
	m := table.mutants[0]
	require.Equal(t, "leader 4", m.Layer)
	require.Equal(t, "one vote", m.Rule)
	require.Equal(t, []Kill{
		{m, "sim", "TestMutantsAreKilled/X/rough", "rough", "M4", 10, 1, place{"a.txt", 4}},
		{m, "sim", "TestMutantsAreKilled/X/wan", "wan", "", 5, 7, place{"a.txt", 5}},
		{m, "leader", "TestMutantsAreKilled/X", "", "", 0, 0, place{"a.txt", 6}},
		{m, ".", "TestY", "", "", 0, 0, place{"a.txt", 7}},
	}, m.Kills)
}

func TestSeedsAreLearned(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, filepath.FromSlash(Dir))
	require.NoError(t, os.MkdirAll(dir, 0o777))
	file := filepath.Join(dir, "a.txt")
	require.NoError(t, os.WriteFile(file, []byte("mutant X\nworld  rough M4 100\nworld  wan any 500 from 70\nworld  lan any 90 from 12\ntest leader\n"), 0o666))
	table, err := parse(os.DirFS(dir))
	require.NoError(t, err)
	k := table.mutants[0].Kills
	require.NoError(t, Learn(root, map[Kill]uint64{k[0]: 99, k[1]: 3}))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "mutant X\nworld  rough M4 100 from 99\nworld  wan any 500\nworld  lan any 90 from 12\ntest leader\n", string(text))
}
