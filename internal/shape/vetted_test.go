package shape

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// The step lint vets with the tags of all files, so a file that one of these tags leaves
// out is in a package that it vets without them, too.
func TestLintVetsEveryFile(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(root(t), "Makefile"))
	require.NoError(t, err)
	require.Contains(t, string(b), "\n\t$(GO) vet -tags mutants,manual ./...\n")
	without := regexp.MustCompile(`(?m)^//go:build .*!(mutants|manual)\b`)
	found := 0
	for name, text := range files(t, ".go") {
		if without.MatchString(text) {
			found++
			require.Contains(t, string(b), "\n\t$(GO) vet ./"+path.Dir(name)+"\n", name)
		}
	}
	require.NotZero(t, found)
}
