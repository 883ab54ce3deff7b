package durable

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/trust/trusttest"
)

func TestAnUnwritableDirectoryIsNamedToNobody(t *testing.T) {
	trusttest.NeedRoot(t)
	dir := closed(t)
	require.NoError(t, CheckDir(dir))
	require.NoError(t, os.Chmod(filepath.Dir(filepath.Dir(dir)), 0o755)) // TempDir is within a private one
	trusttest.As(t, trusttest.Nobody, func() { namesTheUnwritable(t, dir) })
}
