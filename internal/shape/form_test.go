package shape

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// layers lists the packages whose machines have the form in docs/internals/layers.md.
var layers = []string{"datagram", "leader", "leader/epoch", "membership", "clocksync", "broadcast", "internal/replica", "internal/stack"}

// methods returns the exported methods of a package.
func methods(t *testing.T, p goPackage) (all []*ast.FuncDecl) {
	for _, file := range p.GoFiles {
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, file), nil, 0)
		require.NoError(t, err)
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv != nil && fn.Name.IsExported() {
				all = append(all, fn)
			}
		}
	}
	return all
}

// list returns the names and types of parameters or results, one by one.
func list(fields *ast.FieldList) (names, kinds []string) {
	if fields == nil {
		return nil, nil
	}
	for _, f := range fields.List {
		for i := range max(1, len(f.Names)) {
			name := ""
			if len(f.Names) > 0 {
				name = f.Names[i].Name
			}
			names, kinds = append(names, name), append(kinds, types.ExprString(f.Type))
		}
	}
	return names, kinds
}

// misshapen returns how a method departs from the form of a layer, or "".
func misshapen(fn *ast.FuncDecl) string {
	names, in := list(fn.Type.Params)
	_, out := list(fn.Type.Results)
	effects := strings.Join(out, ", ")
	switch {
	case fn.Name.Name == "Deadline" && (len(in) > 0 || effects != "timed.Instant"):
		return "Deadline takes nothing and returns a timed.Instant"
	case strings.HasPrefix(fn.Name.Name, "Handle") && effects != "[]Effect":
		return "a handler returns its effects and nothing else"
	case strings.HasPrefix(fn.Name.Name, "Note") && len(out) > 0:
		return "a note returns nothing"
	case strings.Contains(effects, "[]Effect"):
		if effects != "[]Effect" && effects != "[]Effect, error" {
			return "effects come alone, or with an error"
		}
		if n := len(in); n < 2 || in[0] != "timed.Instant" || in[n-1] != "[]Effect" || names[n-1] != "out" {
			return "the instant comes first, and out []Effect last"
		}
	}
	for i, name := range names {
		if name == "now" && i > 0 {
			return "now comes first"
		}
	}
	return ""
}

func TestLayersHaveOneForm(t *testing.T) {
	all := packages(t)
	for _, name := range layers {
		p := all[name]
		require.NotEmpty(t, p.GoFiles, name)
		handlers, prints := 0, false
		for _, fn := range methods(t, p) {
			if complaint := misshapen(fn); complaint != "" {
				t.Errorf("%s.%s: %s", name, fn.Name.Name, complaint)
			}
			if strings.HasPrefix(fn.Name.Name, "Handle") {
				handlers++
			}
			if recv, ok := fn.Recv.List[0].Type.(*ast.Ident); ok && fn.Name.Name == "String" {
				prints = prints || recv.Name == "Kind" || recv.Name == "EffectKind"
			}
		}
		require.Positive(t, handlers, name)
		require.True(t, prints, "the kinds of effects of %s have names", name)
	}
}

// The guard itself must notice violations.
func TestMisshapenMethodsAreSeen(t *testing.T) {
	for method, wrong := range map[string]bool{
		"HandleTimeout(now timed.Instant, out []Effect) []Effect":             false,
		"HandlePacket(now, received timed.Instant, out []Effect) []Effect":    false,
		"Force(now timed.Instant, n string, out []Effect) ([]Effect, error)":  false,
		"Deadline() timed.Instant":                                            false,
		"NoteSent(now timed.Instant, id timed.NodeID)":                        false,
		"Leads(now timed.Instant) bool":                                       false,
		"HandleTimeout(out []Effect) []Effect":                                true,
		"HandleTimeout(now timed.Instant, out []Effect) ([]Effect, bool)":     true,
		"HandleTimeout(now timed.Instant, a timed.Set, e []Effect) []Effect":  true,
		"HandleReply(out []Effect, now timed.Instant) []Effect":               true,
		"HandleReply(now timed.Instant, r *Reply) bool":                       true,
		"Resign(out []Effect, now timed.Instant) []Effect":                    true,
		"Part(now timed.Instant, out []Effect) (timed.Instant, []Effect)":     true,
		"Deadline(alive timed.Set) timed.Instant":                             true,
		"NoteRelayed(now timed.Instant) bool":                                 true,
		"Offset(id timed.NodeID, now timed.Instant) (lo, hi int)":             true,
		"Force(now timed.Instant, n string, out []Effect) ([]Effect, string)": true,
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "x.go", fmt.Sprintf("package x\nfunc (m *M) %s { panic(0) }", method), 0)
		require.NoError(t, err, method)
		require.Equal(t, wrong, misshapen(f.Decls[0].(*ast.FuncDecl)) != "", method)
	}
}
