package failaware_test

import (
	"fmt"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/cli/clitest"
)

// The Go programs in the pages compile as they stand there, and are formatted; tests pass. What
// is no whole program is at least Go, with … for what is left out.
func TestGoInPages(t *testing.T) {
	dir, err := os.MkdirTemp(".", ".pages-") // within the module
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	programs, vet, tests := 0, []string{"vet"}, []string{"test"}
	for _, p := range clitest.Pages(t, ".") {
		for i, b := range p.Blocks() {
			if b.Info != "go" {
				continue
			}
			where := fmt.Sprintf("%s, block %d", p.Name, i+1)
			if !strings.HasPrefix(b.Text, "package ") {
				require.NoError(t, fragment(b.Text), where)
				continue
			}
			programs++
			formatted, err := format.Source([]byte(b.Text))
			require.NoError(t, err, where)
			require.Equal(t, string(formatted), b.Text, where)
			at := filepath.Join(dir, fmt.Sprint(programs))
			require.NoError(t, os.Mkdir(at, 0o700))
			vet = append(vet, "./"+at) // names, because ... leaves out what begins with a dot
			file := "main.go"
			if strings.Contains(b.Text, "\t\"testing\"\n") {
				file, tests = "main_test.go", append(tests, "./"+at)
			}
			require.NoError(t, os.WriteFile(filepath.Join(at, file), []byte(b.Text), 0o600))
		}
	}
	require.NotZero(t, programs)
	for _, args := range [][]string{vet, tests} {
		require.Greater(t, len(args), 1)
		out, err := exec.Command("go", args...).CombinedOutput()
		require.NoError(t, err, string(out))
	}
}

// fragment parses declarations or statements.
func fragment(text string) error {
	text = strings.ReplaceAll(text, "…", "")
	if _, err := parser.ParseFile(token.NewFileSet(), "", "package p\n"+text, 0); err == nil {
		return nil
	}
	_, err := parser.ParseFile(token.NewFileSet(), "", "package p\nfunc _() {\n"+text+"\n}", 0)
	return err
}

func TestFragmentsAreGo(t *testing.T) {
	for _, good := range []string{"func f() { … }", "x := f(…)", "if a.UpToDate { … }\nreturn", "func (e *E) F(now int) int // comment"} {
		require.NoError(t, fragment(good), good)
	}
	for _, bad := range []string{"x = = 1", "if x {", "for d := range { … }"} {
		require.Error(t, fragment(bad), bad)
	}
}
