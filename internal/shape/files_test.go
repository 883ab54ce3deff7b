package shape

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// creators lists the files of the daemon that may create files, with the reason. All others
// leave it to package durable, whose tests have a disk that loses what was not flushed.
var creators = map[string]string{
	"internal/durable/write.go":            "its disk",
	"internal/durable/lock.go":             "a lock has no content",
	"internal/journal/system.go":           "its disk",
	"replicate/internal/engine/spool.go":   "it goes with the process",
	"clocksync/clockbound/create_linux.go": "it is empty after a boot",
	"cmd/failaware/lockcgroup_linux.go":    "files of the kernel",
	"cmd/failaware/lockself_linux.go":      "a file of the kernel",
	"cmd/failaware/report.go":              "a copy of what is on the terminal",
}

func TestWhatIsWrittenIsFlushed(t *testing.T) {
	cmd := exec.Command("go", "list", "-deps", "-f", `{{if .Module}}{{if .Module.Main}}{{.Dir}}{{end}}{{end}}`, "./cmd/failaware")
	cmd.Dir = root(t)
	cmd.Env = append(cmd.Environ(), "GOOS=linux", "CGO_ENABLED=0")
	out, err := cmd.Output()
	require.NoError(t, err)
	var creating []string
	for dir := range strings.FieldsSeq(string(out)) {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		require.NoError(t, err)
		for _, path := range files {
			f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			require.NoError(t, err)
			if rel, err := filepath.Rel(root(t), path); creates(f) && !strings.HasSuffix(path, "_test.go") {
				require.NoError(t, err)
				creating = append(creating, filepath.ToSlash(rel))
			}
		}
	}
	require.ElementsMatch(t, slices.Collect(maps.Keys(creators)), creating)
}

// creates reports whether a file has code that creates files.
func creates(f *ast.File) (found bool) {
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			p, _ := s.X.(*ast.Ident)
			found = found || p != nil && p.Name == "os" && slices.Contains([]string{"Create", "CreateTemp", "WriteFile", "O_CREATE"}, s.Sel.Name)
		}
		return true
	})
	return found
}

func TestFilesThatCreateOthersAreSeen(t *testing.T) {
	for code, want := range map[string]bool{
		`os.WriteFile("x", nil, 0)`:                   true,
		`os.Create("x")`:                              true,
		`os.OpenFile("x", os.O_RDWR|os.O_CREATE, 0)`:  true,
		`os.OpenFile("x", os.O_RDWR, 0); Create("x")`: false,
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "", "package x; func f() { "+code+" }", 0)
		require.NoError(t, err)
		require.Equal(t, want, creates(f), code)
	}
}
