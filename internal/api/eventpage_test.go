package api

import (
	stdflag "flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var updatePage = stdflag.Bool("update-page", false, "write the page that a test compares")

const eventsPage = "../../docs/reference/events.md"

// docs/reference/events.md lists the events as package event documents them.
func TestEventsPage(t *testing.T) {
	kinds := documentedEvents(t)
	require.NotEmpty(t, kinds)
	var b strings.Builder
	b.WriteString("# Events\n\nThis page is generated from package `event` by `go test ./internal/api -run TestEventsPage -update-page`.\n" +
		"[Subscriptions](../how-to/events.md) says how to follow events. Every event has `id`, `sequence`, `time`, `node`, `kind` and `text`, and the fields below.\n")
	for _, topic := range append(Topics(), "") {
		var list []documentedEvent
		for _, k := range kinds {
			in := ""
			for _, other := range Topics() {
				if other != "all" && !wanted("", k.kind) && wanted(other, k.kind) {
					in = other
				}
			}
			if topic != "all" && in == topic {
				list = append(list, k)
			}
		}
		if len(list) == 0 {
			continue
		}
		if topic == "" {
			b.WriteString("\n## In every topic\n\n")
		} else {
			fmt.Fprintf(&b, "\n## Topic `%s`\n\n", topic)
		}
		b.WriteString("| kind | Go type | what happened | fields |\n| --- | --- | --- | --- |\n")
		for _, k := range list {
			fmt.Fprintf(&b, "| `%s` | `event.%s` | %s | %s |\n", k.kind, k.name, k.doc, k.fields)
		}
	}
	if *updatePage {
		require.NoError(t, os.WriteFile(eventsPage, []byte(b.String()), 0o644))
	}
	have, err := os.ReadFile(eventsPage)
	require.NoError(t, err)
	require.Equal(t, b.String(), string(have), "the page is old: go test ./internal/api -run TestEventsPage -update-page")
}

type documentedEvent struct{ kind, name, doc, fields string }

// documentedEvents reads package event.
func documentedEvents(t *testing.T) (all []documentedEvent) {
	files, err := filepath.Glob("../../event/*.go")
	require.NoError(t, err)
	kinds, types := map[string][]string{}, map[string]documentedEvent{} // an event that can be global has two kinds
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		require.NoError(t, err)
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Name.Name == "Kind" && d.Recv != nil {
					name := d.Recv.List[0].Type.(*ast.Ident).Name
					ast.Inspect(d.Body, func(n ast.Node) bool {
						if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
							kind, err := strconv.Unquote(lit.Value)
							require.NoError(t, err)
							kinds[name] = append(kinds[name], kind)
						}
						return true
					})
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if s, ok := s.(*ast.TypeSpec); ok {
						if st, ok := s.Type.(*ast.StructType); ok {
							types[s.Name.Name] = documentedEvent{name: s.Name.Name, doc: eventDoc(s.Name.Name, d.Doc.Text()), fields: apiFields(st)}
						}
					}
				}
			}
		}
	}
	for name := range kinds {
		e := types[name]
		require.NotEmpty(t, e.doc, name)
		for _, kind := range kinds[name] {
			e.kind = kind
			all = append(all, e)
		}
	}
	slices.SortFunc(all, func(a, b documentedEvent) int { return strings.Compare(a.kind, b.kind) })
	return all
}

// eventDoc is the comment of a type in one line, without the type's name before it.
func eventDoc(name, doc string) string {
	doc = strings.Join(strings.Fields(doc), " ")
	doc = strings.TrimPrefix(doc, name+" says that ")
	return strings.NewReplacer("|", "\\|", "[", "", "]", "").Replace(doc)
}

// apiFields are the names of the fields in the API.
func apiFields(st *ast.StructType) string {
	var names []string
	for _, f := range st.Fields.List {
		if f.Tag == nil {
			continue
		}
		tag, _ := strconv.Unquote(f.Tag.Value)
		if name, _, _ := strings.Cut(reflect.StructTag(tag).Get("api"), ","); name != "" && name != "-" {
			for part := range strings.SplitSeq(name, "+") {
				names = append(names, "`"+part+"`")
			}
		}
	}
	return strings.Join(names, ", ")
}
