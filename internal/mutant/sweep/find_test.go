package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const sample = `package p

const limit = 3 + 4

func f(a, b int, ok bool, list []int) (n int) {
	if a < b && ok {
		n = a - b
	}
	for i := range list {
		if list[i] == 0 {
			continue
		}
		n += max(list[i], 1)
		n++
	}
	switch {
	case n > limit || !ok:
		println(-n)
	}
	use(point{x: n, y: 2, next: nil, in: flag(ok), far: a > b}, []point{{x: a}})
	return n * 2
}

type flag bool

type point struct {
	x, y int
	next *point
	in   flag
	far  flag
}

func use(point, []point) {}

func String() string { return "x" + "y" }
`

// Every usual mistake is found once, and the changed text has the types of the original:
// all changes stand in it at once.
func TestFind(t *testing.T) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "p.go", sample, 0)
	require.NoError(t, err)
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}}
	_, err = (&types.Config{}).Check("p", fset, []*ast.File{file}, info)
	require.NoError(t, err)
	next := 7
	f := &finder{fset: fset, info: info, src: []byte(sample), pkg: "p", file: "p.go", next: &next}
	for _, d := range file.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			f.function(fn)
		}
	}
	kinds := map[string]int{}
	for i, c := range f.changes {
		require.Equal(t, 7+i, c.id)
		kinds[c.kind]++
	}
	require.Equal(t, map[string]int{"condition always true": 3, "condition never true": 3, "forgotten operand": 4, "boundary": 3, "negation": 4,
		"arithmetic": 2, "assignment": 1, "forgotten statement": 5, "increment and decrement": 1, "min and max": 1, "negative": 1,
		"break for continue": 1, "forgotten field": 3}, kinds)
	require.Equal(t, 7+len(f.changes), next)

	text := f.render()
	require.Equal(t, strings.Count(text, "\n"), strings.Count(sample, "\n"), "lines keep their numbers")
	helpers := `
type number interface{ ~int }
type helper struct{}
func (helper) On(int) bool { return false }
var swept_ helper
func (helper) Add(n, a, b int) int { return a + b }
func (helper) Sub(n, a, b int) int { return a - b }
func (helper) Mul(n, a, b int) int { return a * b }
func (helper) Neg(n, a int) int { return -a }
func field[T any](n int, v T) T { return v }
func (helper) Max(n int, a ...int) int { return a[0] }
`
	text = strings.ReplaceAll(text, "swept_.Field", "field") // a method has no type parameters
	changed, err := parser.ParseFile(fset, "q.go", text+helpers, 0)
	require.NoError(t, err, text)
	_, err = (&types.Config{}).Check("p", fset, []*ast.File{changed}, nil)
	require.NoError(t, err, text)
}

// A sample is the same for the same seed, and places are not confused with longer ones.
func TestChoice(t *testing.T) {
	var all []change
	for i := range 100 {
		all = append(all, change{id: i, pkg: "p", file: "p.go", line: i})
	}
	x := choice{sample: 10, seed: 1, places: []string{""}}
	require.Len(t, x.of(all, "p"), 10)
	require.Equal(t, x.of(all, "p"), x.of(all, "p"))
	require.Empty(t, x.of(all, "q"))
	x = choice{places: []string{"p/p.go:1"}}
	require.Equal(t, []change{all[1]}, x.of(all, "p"))
	x.kind, all[1].kind = "negation", "boundary"
	require.Empty(t, x.of(all, "p"))
}

// The list of equivalent changes names changes that the files can have.
func TestEquivalents(t *testing.T) {
	reasons, err := known(equivalents)
	require.NoError(t, err)
	require.NotEmpty(t, reasons)
	for name := range reasons {
		file, rest, _ := strings.Cut(name, ": ")
		_, text, _ := strings.Cut(rest, ": ")
		if _, whole, ok := strings.Cut(text, " of "); ok {
			text = whole
		}
		b, err := os.ReadFile(filepath.Join("..", "..", "..", filepath.FromSlash(file)))
		require.NoError(t, err)
		require.Contains(t, strings.Join(strings.Fields(string(b)), " "), text, file)
	}
	for _, bad := range []string{"a: b: c", "a: b: c\nd: e: f\n\tg", "\treason", "name\n\treason"} {
		reasons, err := known(bad)
		require.True(t, err != nil || len(reasons) == 0, bad)
	}
}
