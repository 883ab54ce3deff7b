package shape

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// worlds lists the packages that run independent worlds side by side. The tests of
// cmd/failaware-lab run such worlds with the race detector.
var worlds = []string{"sim", "sim/lab", "internal/clocktrial"}

// static lists the packages whose tests only look at the source and start programs.
var static = []string{"internal/shape", "internal/thirdparty", "internal/systems", "internal/mutant/planted"}

// driven lists the packages whose locks serve other users. Those of PLAIN drive them with
// one goroutine, and their own tests run with the race detector.
var driven = []string{"internal/journal", "internal/journal/disktest"}

// packagesOf returns the packages of a list of the Makefile; "" is the root package.
func packagesOf(t *testing.T, list string) []string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root(t), "Makefile"))
	require.NoError(t, err)
	m := regexp.MustCompile(`(?m)^` + list + ` = ((?:.*\\\n)*.*)$`).FindSubmatch(b)
	require.NotNil(t, m, "the Makefile has no list %s", list)
	names := strings.Fields(strings.ReplaceAll(string(m[1]), "\\\n", " "))
	for i, name := range names {
		names[i] = strings.TrimPrefix(strings.TrimPrefix(name, "."), "/")
	}
	return names
}

// Tests that run without the race detector run one goroutine, and so do the packages
// that they use.
func TestPackagesWithGoroutinesAreTestedForRaces(t *testing.T) {
	all := packages(t)
	single := map[string]bool{} // packages that were looked at
	var check func(user, name string)
	check = func(user, name string) {
		if single[name] {
			return
		}
		single[name] = true
		p := all[name]
		if !slices.Contains(worlds, name) && !slices.Contains(driven, name) {
			requireNoGoroutines(t, user, p.Dir, p.GoFiles)
		}
		for _, imp := range p.Imports {
			if rel, own := relative(imp); own {
				check(user, rel)
			}
		}
	}
	for _, name := range packagesOf(t, "PLAIN") {
		p, ok := all[name]
		require.True(t, ok, "%s: there is no such package", name)
		if slices.Contains(static, name) {
			continue
		}
		check(name, name)
		for _, imp := range slices.Concat(p.TestImports, p.XTestImports) {
			if rel, own := relative(imp); own {
				check(name, rel)
			}
		}
		if !slices.Contains(worlds, name) {
			requireNoGoroutines(t, name, p.Dir, slices.Concat(p.TestGoFiles, p.XTestGoFiles))
		}
	}
}

// Tests that do less with the race detector do all without it.
func TestWhatTheRaceDetectorShortensIsTestedInFull(t *testing.T) {
	var shortened []string
	for name, p := range packages(t) {
		if slices.Contains(slices.Concat(p.TestImports, p.XTestImports), module+"/internal/race") {
			shortened = append(shortened, name)
		}
	}
	require.ElementsMatch(t, shortened, packagesOf(t, "TWICE"), "TWICE of the Makefile")
}

func requireNoGoroutines(t *testing.T, user, dir string, files []string) {
	t.Helper()
	for _, file := range files {
		path := filepath.Join(dir, file)
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		require.Empty(t, concurrency(f), "%s, which PLAIN of the Makefile tests without the race detector, uses %s", user, path)
	}
}
