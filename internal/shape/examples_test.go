package shape

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// mostLines is how long a file of an example may be: a reader sees it at once.
const mostLines = 120

// Examples use what users can use. Each has a page that says how to run it, a test, and
// short files.
func TestExamplesArePublic(t *testing.T) {
	for name, p := range packages(t) {
		if !strings.HasPrefix(name, "examples/") {
			continue
		}
		for _, imp := range append(append(p.Imports, p.TestImports...), p.XTestImports...) {
			rel, own := relative(imp)
			require.False(t, own && strings.Contains("/"+rel+"/", "/internal/"), "%s imports %s", name, rel)
		}
		page, err := os.ReadFile(filepath.Join(p.Dir, "README.md"))
		require.NoError(t, err)
		require.Contains(t, string(page), "examples/"+filepath.Base(name), "the page says how to run it")
		tests, err := filepath.Glob(filepath.Join(p.Dir, "*_test.go"))
		require.NoError(t, err)
		require.NotEmpty(t, tests, "%s has no test", name)
		for _, file := range p.GoFiles {
			code, err := os.ReadFile(filepath.Join(p.Dir, file))
			require.NoError(t, err)
			require.LessOrEqual(t, bytes.Count(code, []byte("\n")), mostLines, "lines of %s/%s", name, file)
		}
	}
}
