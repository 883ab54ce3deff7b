package wire

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var updatePage = flag.Bool("update-page", false, "write the page that a test compares")

const page = "../../docs/reference/wire.md"

// source is the source of this package.
type source struct {
	set   *token.FileSet
	files map[string]*ast.File
}

func readSource(t *testing.T) *source {
	s := &source{set: token.NewFileSet(), files: map[string]*ast.File{}}
	names, err := fs.Glob(os.DirFS("."), "*.go")
	require.NoError(t, err)
	for _, name := range names {
		if !strings.HasSuffix(name, "_test.go") {
			s.files[name], err = parser.ParseFile(s.set, name, nil, parser.ParseComments)
			require.NoError(t, err)
		}
	}
	return s
}

// text returns the source of a node in one line.
func (s *source) text(n ast.Node) string {
	var b bytes.Buffer
	_ = printer.Fprint(&b, s.set, n)
	return strings.Join(strings.Fields(b.String()), " ")
}

// comments returns what is said at the constants of a file whose names have a prefix.
func (s *source) comments(file, prefix string) map[string]string {
	out := map[string]string{}
	ast.Inspect(s.files[file], func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok && strings.HasPrefix(v.Names[0].Name, prefix) {
			out[v.Names[0].Name[len(prefix):]] = strings.TrimSpace(v.Comment.Text())
		}
		return true
	})
	return out
}

// writers returns the methods of the writer, by their names.
func (s *source) writers() map[string]*ast.FuncDecl {
	out := map[string]*ast.FuncDecl{}
	for _, f := range s.files {
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv != nil && s.text(fn.Recv.List[0].Type) == "*writer" {
				out[fn.Name.Name] = fn
			}
		}
	}
	return out
}

var conversion = regexp.MustCompile(`^(?:uint64|int64|uint32)\(([^()]*(?:\([^()]*\)[^()]*)*)\)$`)

// values lists the calls of the writer below a node: what is written, in its order.
func (s *source) values(n ast.Node) (list []string) {
	ast.Inspect(n, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		fn, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || s.text(fn.X) != "w" || slices.Contains([]string{"open", "close", "fail"}, fn.Sel.Name) {
			return true
		}
		what := fn.Sel.Name
		if len(call.Args) > 0 {
			arg := s.text(call.Args[0])
			if m := conversion.FindStringSubmatch(arg); m != nil {
				arg = m[1]
			}
			what += " " + strings.TrimPrefix(arg, "&")
		}
		list = append(list, "`"+what+"`")
		return false
	})
	return list
}

// viewFrame is a call that writes a frame of one view id.
var viewFrame = regexp.MustCompile(`w\.viewFrame\(type(\w+),`)

// frames returns what each frame holds: the calls between its open and its close.
func (s *source) frames(writers map[string]*ast.FuncDecl) map[string][]string {
	out := map[string][]string{}
	for _, fn := range writers {
		ast.Inspect(fn, func(n ast.Node) bool {
			block, ok := n.(*ast.BlockStmt)
			if !ok {
				return true
			}
			kind := ""
			for _, stmt := range block.List {
				text := s.text(stmt)
				for _, m := range viewFrame.FindAllStringSubmatch(text, -1) {
					out[m[1]] = []string{"`viewID`"}
				}
				switch {
				case strings.HasPrefix(text, "w.open(type"):
					kind, _, _ = strings.Cut(strings.TrimPrefix(text, "w.open(type"), ",")
				case text == "w.close()":
					kind = ""
				case kind != "":
					out[kind] = append(out[kind], s.values(stmt)...)
				}
			}
			return true
		})
	}
	return out
}

// docs/reference/wire.md has the format of packets, as this package writes them.
func TestWirePage(t *testing.T) {
	s := readSource(t)
	writers := s.writers()
	frames, says := s.frames(writers), s.comments("packet.go", "Frame")
	var b strings.Builder
	fmt.Fprintf(&b, "# The wire format\n\nThis page is generated from package `internal/wire` by `go test ./internal/wire -run TestWirePage -update-page`. It is version %d of the format. "+
		"[The protocol](../internals/protocol.md) says what frames mean, and [upgrading](../how-to/upgrading.md) what a version promises.\n", Version)
	doc := s.files["doc.go"].Doc.Text()
	doc = doc[strings.Index(doc, "# Format"):strings.Index(doc, "# Sizes")]
	b.WriteString("\n#" + regexp.MustCompile(`\[(\w+(?:\.\w+)?)\]`).ReplaceAllString(strings.TrimSpace(doc), "`$1`") + "\n")
	fmt.Fprintf(&b, "\n## Header\n\n%d bytes, big endian, without padding:\n\n| at | field |\n| --: | --- |\n| 0 | magic \"FA\" |\n", HeaderSize)
	ast.Inspect(s.files["header.go"], func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok && strings.HasPrefix(v.Names[0].Name, "off") {
			fmt.Fprintf(&b, "| %s | %s |\n", s.text(v.Values[0]), strings.TrimPrefix(v.Names[0].Name, "off"))
		}
		return true
	})
	b.WriteString("\n## Frames\n\nThe values are in the order in which they are written, with the function that writes each and the field that it is of.\n\n| type | frame | what it is | values |\n| --: | --- | --- | --- |\n")
	ast.Inspect(s.files["frame.go"], func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(v.Names[0].Name, "type") || v.Names[0].Name == "typeEnd" {
			return true
		}
		name := strings.TrimPrefix(v.Names[0].Name, "type")
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", s.text(v.Values[0]), name, says[name], strings.ReplaceAll(strings.Join(frames[name], ", "), "|", "\\|"))
		require.True(t, name == "Hello" || says[name] != "", "packet.go does not say what frame %s is", name)
		return true
	})
	b.WriteString("\n## Parts of frames\n\n| written by | values |\n| --- | --- |\n")
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for name, fn := range writers {
			if list := s.values(fn.Body); len(list) > 0 && !strings.Contains(s.text(fn.Body), "w.open(") && name != "body" && name != "open" && !strings.HasSuffix(name, "Frames") && !yield(name) {
				return
			}
		}
	}) {
		fmt.Fprintf(&b, "| `%s` | %s |\n", name, strings.ReplaceAll(strings.Join(s.values(writers[name].Body), ", "), "|", "\\|"))
	}
	if *updatePage {
		require.NoError(t, os.WriteFile(page, []byte(b.String()), 0o644))
	}
	have, err := os.ReadFile(page)
	require.NoError(t, err)
	require.Equal(t, b.String(), string(have), "the page is old: go test ./internal/wire -run TestWirePage -update-page")
}
