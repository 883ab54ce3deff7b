package shape

import (
	"go/ast"
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

var (
	declared = regexp.MustCompile("`([\\w./-]+\\.go):(\\w+)`")
	plants   = regexp.MustCompile(`(?m)^mutant (\w+)$`)

	// checks are the names of checks and scenarios in the simulator, and bold those that
	// a table of the page of the papers uses.
	checks = regexp.MustCompile(`\bFail\("([^"]+)"|\bName: "([^"]+)", Title:|(?m:^\t"([^"]+)": +(?:plain|caughtPanics)\()`)
	bold   = regexp.MustCompile(`\*\*([^*]+)\*\*`)
)

const papers = "docs/internals/papers.md"

// names returns the declarations of a file: functions, methods, types, values.
func names(t *testing.T, file string) (out []string) {
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			out = append(out, d.Name.Name)
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					out = append(out, s.Name.Name)
				case *ast.ValueSpec:
					for _, n := range s.Names {
						out = append(out, n.Name)
					}
				}
			}
		}
	}
	return out
}

// The declarations and planted bugs that the page of the papers names exist.
func TestPapersNameWhatExists(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(root(t), papers))
	require.NoError(t, err)
	page := string(b)
	all := declared.FindAllStringSubmatch(page, -1)
	require.NotEmpty(t, all)
	known := map[string][]string{}
	for _, m := range all {
		file := filepath.Join(root(t), filepath.FromSlash(m[1]))
		if known[file] == nil {
			known[file] = names(t, file)
		}
		if !slices.Contains(known[file], m[2]) {
			t.Errorf("%s declares no %s", m[1], m[2])
		}
	}
	bugs := map[string]bool{}
	for _, text := range files(t, ".txt") {
		for _, m := range plants.FindAllStringSubmatch(text, -1) {
			bugs[m[1]] = true
		}
	}
	named, planted := 0, false
	for line := range strings.SplitSeq(page, "\n") {
		cells := strings.Split(strings.Trim(line, "| "), "|")
		last := strings.TrimSpace(cells[len(cells)-1])
		switch {
		case !strings.HasPrefix(line, "|"):
			planted = false
		case last == "planted bugs":
			planted = true
		case planted && last != "—" && strings.Trim(last, "-") != "":
			for bug := range strings.SplitSeq(last, ", ") {
				named++
				if !bugs[bug] {
					t.Errorf("there is no planted bug %q: %s", bug, line)
				}
			}
		}
	}
	require.NotZero(t, named)
}

// The checks and scenarios that the tables of the papers name exist in the simulator.
func TestPapersNameChecksThatExist(t *testing.T) {
	known := map[string]bool{}
	for name, text := range files(t, ".go") {
		if strings.HasPrefix(name, "sim/") {
			for _, m := range checks.FindAllStringSubmatch(text, -1) {
				known[m[1]+m[2]+m[3]] = true
			}
		}
	}
	named := 0
	for line := range strings.Lines(files(t, ".md")[papers]) {
		for _, m := range bold.FindAllStringSubmatch(line, -1) {
			if strings.HasPrefix(line, "|") {
				named++
				if !known[strings.ReplaceAll(m[1], "′", "'")] {
					t.Errorf("the simulator has no check or scenario %q: %s", m[1], line)
				}
			}
		}
	}
	require.NotZero(t, named)
}
