package shape

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// longest is the most lines that a function may have, from its func to its last brace.
const longest = 60

// overlong returns the functions of a file that are too long.
func overlong(files *token.FileSet, f *ast.File) (out []string) {
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			if lines := files.Position(fn.End()).Line - files.Position(fn.Pos()).Line + 1; lines > longest {
				out = append(out, fmt.Sprintf("%s has %d lines", fn.Name.Name, lines))
			}
		}
	}
	return out
}

// Every function that somebody wrote can be read on one page, those of tests and of other
// systems as well. The test therefore walks over the files, which build constraints do
// not hide.
func TestFunctionsStayShort(t *testing.T) {
	top, seen := root(t), 0
	require.NoError(t, filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if path != top && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "node_modules") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		files := token.NewFileSet()
		f, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil || ast.IsGenerated(f) {
			return err
		}
		seen++
		for _, complaint := range overlong(files, f) {
			t.Errorf("%s: %s, and %d are allowed", path, complaint, longest)
		}
		return nil
	}))
	require.Greater(t, seen, 500, "the walk must reach the whole module")
}

// The guard itself must notice a function of one line too many.
func TestOverlongFunctionsAreSeen(t *testing.T) {
	for lines, want := range map[int]int{longest: 0, longest + 1: 1} {
		files := token.NewFileSet()
		src := "package x\n\n// comment\nfunc (t T) f() {" + strings.Repeat("\n", lines-1) + "}\n"
		f, err := parser.ParseFile(files, "x.go", src, 0)
		require.NoError(t, err)
		require.Len(t, overlong(files, f), want, "%d lines", lines)
	}
}
