package fence

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A mark that could not be written is written with the next edict: without it, a lost file goes unnoticed.
func failedMarkIsWritten(t testing.TB) {
	path := filepath.Join(t.TempDir(), "fence")
	f := open(t, path)
	lock := *f.lock
	require.NoError(t, (&lock).Release()) // writing the mark fails
	e := at(1)
	_, err := f.Do("a", e, e.Digest, nothing)
	require.NoError(t, err)
	require.False(t, f.marked)
}

func TestAMarkThatFailedIsWrittenLater(t *testing.T) { failedMarkIsWritten(t) }
