package shape

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// direct matches a module that go.mod requires directly, and tool the module of a
// pinned tool.
var (
	direct = regexp.MustCompile(`(?m)^\t(\S+) v\S+$`)
	tool   = regexp.MustCompile(`(?m)^(?:tool |\t)(\S+)/cmd/\S+$`)
	listed = regexp.MustCompile(`(?m)^\| (\S+\.\S+/\S+) \|`)
)

// docs/internals/dependencies.md lists the direct requirements of go.mod with their reasons.
func TestEveryLibraryHasAReason(t *testing.T) {
	first := func(file string, patterns ...*regexp.Regexp) (out []string) {
		b, err := os.ReadFile(filepath.Join(root(t), file))
		require.NoError(t, err)
		for _, re := range patterns {
			for _, m := range re.FindAllSubmatch(b, -1) {
				out = append(out, string(m[1]))
			}
		}
		return out
	}
	require.ElementsMatch(t, first("go.mod", direct, tool), first("docs/internals/dependencies.md", listed))
}
