package planted

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func root(t *testing.T) string {
	t.Helper()
	dir, err := Root()
	require.NoError(t, err)
	return dir
}

var switches = regexp.MustCompile(`mutant\.On\("(\w*)"\)`)

func TestEveryBugHasARuleAKillAndASwitch(t *testing.T) {
	bugs := map[string]*Mutant{}
	for _, m := range All() {
		require.Nil(t, bugs[m.Name], "%v: the name %s is taken: choose another", m.at, m.Name)
		bugs[m.Name] = m
		require.NotEmpty(t, m.Layer, "%v: %s has no line \"layer\": write which layer's rule it breaks", m.at, m.Name)
		require.NotEmpty(t, m.Rule, "%v: %s has no line \"rule\": write the rule that it breaks", m.at, m.Name)
		require.NotEmpty(t, m.Kills, "%v: %s has no line \"world\" or \"test\": write which check notices it", m.at, m.Name)
	}
	switched := map[string]bool{}
	for _, e := range embedded.edits {
		for _, h := range e.hunk {
			for _, call := range switches.FindAllStringSubmatch(h.text, -1) {
				require.NotNil(t, bugs[call[1]], "%s/%s:%d: %q has no line \"mutant\": mend the name, or write its entry", Dir, e.at.file, h.line, call[1])
				switched[call[1]] = true
			}
		}
	}
	for _, m := range bugs {
		require.True(t, switched[m.Name], "%v: no edit calls mutant.On(%q): nothing switches the bug on", m.at, m.Name)
	}
}

// The go command prints the line of the table for an error in planted text.
func TestPlantedTextCompiles(t *testing.T) {
	overlay, err := Write(root(t), t.TempDir())
	require.NoError(t, err)
	args := append([]string{"build"}, Flags(overlay)...)
	for _, e := range embedded.edits {
		args = append(args, "./"+filepath.ToSlash(filepath.Dir(e.path)))
	}
	cmd := exec.Command("go", args...)
	cmd.Dir = root(t)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "planted text does not compile; mend the entry at these lines:\n%s", out)
}

func TestProductionFilesKnowNoPlantedBugs(t *testing.T) {
	dir := root(t)
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		require.NoError(t, err)
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if rel == "internal/mutant" || rel == "bin" || rel != "." && strings.HasPrefix(d.Name(), ".") {
				return fs.SkipDir
			}
			return nil
		}
		if filepath.Ext(path) != ".go" {
			return nil
		}
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		imports := strings.Contains(string(text), "\""+Module+"/internal/mutant")
		if !strings.HasSuffix(path, "_test.go") {
			require.False(t, imports, "%s imports package mutant: plant the bug by an entry in %s", rel, Dir)
		} else if strings.Contains(string(text), "\""+Module+"/internal/mutant\"") {
			require.True(t, strings.HasPrefix(string(text), "//go:build "+Tag+"\n"),
				"%s uses planted bugs and must begin with \"//go:build %s\"", rel, Tag)
		}
		return nil
	}))
}

// The table of the document is printed by the campaign.
func TestTheDocumentListsEveryBug(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root(t), "docs", "mutants.md"))
	require.NoError(t, err)
	for _, m := range All() {
		require.True(t, strings.Contains(string(text), "\n| "+m.Name+" | "+m.Layer+" | "+m.Rule+" | "),
			"%s is not in the table: go run ./internal/mutant/campaign -doc docs/mutants.md", m.Name)
	}
}
