package fence

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/leader/edict"
)

// A fence that was opened by a relative path stays where it is when the process changes
// its working directory.
func TestChdirMovesNoFence(t *testing.T) {
	home := t.TempDir()
	t.Chdir(home)
	f, err := Open("fence")
	require.NoError(t, err)
	_, err = f.Do("a", at(1), edict.Digest{}, nothing)
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	_, err = f.Do("a", at(5), edict.Digest{}, nothing)
	require.NoError(t, err)
	require.Empty(t, f.names, "Close would wait for them")
	require.NoError(t, f.Close())

	t.Chdir(home) // the store starts again
	f = open(t, "fence")
	_, err = f.Do("a", at(2), edict.Digest{}, func(edict.Verdict) error { t.Error("obeyed an older edict"); return nil })
	require.ErrorIs(t, err, edict.ErrStale)
}
