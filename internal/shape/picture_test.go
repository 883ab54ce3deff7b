package shape

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A row of the picture in docs/ARCHITECTURE.md, topmost first. An entry is the path
// of a package, or "path/..." for a package and those in its directories.
type row struct {
	name    string
	entries []string
}

// covers reports whether an entry stands for a package.
func covers(entry, pkg string) bool {
	tree, all := strings.CutSuffix(entry, "/...")
	return pkg == tree || all && strings.HasPrefix(pkg, tree+"/")
}

// readPicture returns the rows of the picture on a page: the lines of its first
// block that have the columns of a box: a name, entries, more entries, and a note.
func readPicture(page string) (rows []row) {
	_, block, _ := strings.Cut(page, "```text\n")
	block, _, _ = strings.Cut(block, "```")
	for line := range strings.Lines(block) {
		columns := strings.Split(line, "│")
		if len(columns) < 5 {
			continue
		}
		if name := strings.TrimSpace(columns[1]); name != "" {
			rows = append(rows, row{name: name})
		}
		last := &rows[len(rows)-1] // a line without a name continues its row
		last.entries = append(last.entries, strings.Fields(columns[2]+" "+columns[3])...)
	}
	return rows
}

// faults returns the contradictions between imports and the picture: a package without
// an entry or with two, an entry without a package, and an import that does not lead to
// a lower row. Packages of one entry may import each other.
func faults(rows []row, imports map[string][]string) (out []string) {
	type place struct {
		row   int
		entry string
	}
	at := map[string]place{}
	used := map[string]bool{}
	for pkg := range imports {
		for i, r := range rows {
			for _, e := range r.entries {
				if !covers(e, pkg) {
					continue
				}
				if before, twice := at[pkg]; twice {
					out = append(out, pkg+" stands for "+before.entry+" and "+e)
				}
				at[pkg], used[e] = place{i, e}, true
			}
		}
		if _, ok := at[pkg]; !ok {
			out = append(out, pkg+" is not in the picture")
		}
	}
	for _, r := range rows {
		for _, e := range r.entries {
			if !used[e] {
				out = append(out, e+" is in the picture, and there is no such package")
			}
		}
	}
	for pkg, all := range imports {
		for _, imp := range all {
			from, to := at[pkg], at[imp]
			if to.row <= from.row && (to.entry != from.entry || !strings.HasSuffix(to.entry, "/...")) {
				out = append(out, pkg+" imports "+imp+", which is not in a lower row")
			}
		}
	}
	slices.Sort(out)
	return out
}

// The picture shows every package once, and every import leads downward in it.
func TestThePictureShowsTheImports(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root(t), "docs", "ARCHITECTURE.md"))
	require.NoError(t, err)
	rows := readPicture(string(page))
	require.Greater(t, len(rows), 5)
	imports := map[string][]string{}
	for name, p := range packages(t) {
		own := []string{}
		for _, imp := range p.Imports {
			if rel, ok := relative(imp); ok {
				own = append(own, picture(rel))
			}
		}
		imports[picture(name)] = own
	}
	for _, fault := range faults(rows, imports) {
		t.Error(fault)
	}
}

// picture returns the name of a package in the picture.
func picture(pkg string) string {
	if pkg == "" {
		return "failaware"
	}
	return pkg
}

func TestFaultsOfThePictureAreSeen(t *testing.T) {
	rows := readPicture("```text\n┌─\n│ top │ a b/... │  │ 1 a packet │\n│     │ │ c │ │\n├─\n│ low │ d │ e │ │\n```\n")
	require.Equal(t, []row{{"top", []string{"a", "b/...", "c"}}, {"low", []string{"d", "e"}}}, rows)
	sound := map[string][]string{"a": {"d"}, "b": {"b/x"}, "b/x": {"e"}, "c": nil, "d": nil, "e": nil}
	require.Empty(t, faults(rows, sound))
	for fault, change := range map[string]map[string][]string{
		"d imports a, which is not in a lower row": {"d": {"a"}},
		"a imports c, which is not in a lower row": {"a": {"c"}},
		"f is not in the picture":                  {"f": nil},
	} {
		broken := map[string][]string{}
		for _, m := range []map[string][]string{sound, change} {
			maps.Copy(broken, m)
		}
		require.Equal(t, []string{fault}, faults(rows, broken))
	}
	delete(sound, "e")
	sound["b/x"] = nil
	require.Equal(t, []string{"e is in the picture, and there is no such package"}, faults(rows, sound))
	require.NotEmpty(t, faults([]row{{"x", []string{"a", "a/..."}}}, map[string][]string{"a": nil}))
}

// functionOnPage matches a function that a page names with its file, as in "`mayVote`
// in leader/vote.go".
var functionOnPage = regexp.MustCompile("`(?:\\w+\\.)?(\\w+)` in \\[([\\w/.-]+\\.go)\\]")

// Functions are in the files that the page names.
func TestThePageNamesFunctionsThatExist(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root(t), "docs", "ARCHITECTURE.md"))
	require.NoError(t, err)
	found := functionOnPage.FindAllStringSubmatch(string(page), -1)
	require.NotEmpty(t, found)
	for _, m := range found {
		b, err := os.ReadFile(filepath.Join(root(t), m[2]))
		require.NoError(t, err)
		require.Regexp(t, `(?m)^func (\(.*\) )?`+m[1]+`\(`, string(b), m[2])
	}
}
