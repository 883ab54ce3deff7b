package failaware_test

import (
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The README's example compiles as it stands there.
func TestReadmeExampleCompiles(t *testing.T) {
	text, err := os.ReadFile("README.md")
	require.NoError(t, err)
	_, code, ok := strings.Cut(string(text), "```go\n")
	require.True(t, ok)
	code, _, ok = strings.Cut(code, "```")
	require.True(t, ok)
	formatted, err := format.Source([]byte(code))
	require.NoError(t, err)
	require.Equal(t, string(formatted), code)
	dir, err := os.MkdirTemp(".", ".readme-")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte(code), 0o644))
	out, err := exec.Command("go", "vet", "./"+dir).CombinedOutput()
	require.NoError(t, err, string(out))
}
