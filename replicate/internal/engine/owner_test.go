package engine

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/durable"
)

// strangers requires that a directory with a journal is its owner's alone, and that a
// refusal leaves every byte as it is.
func strangers(t testing.TB) {
	dir := filepath.Join(t.TempDir(), "state")
	mine := Owner{1, "plant"}
	check := func(o Owner) error {
		_, err := checkOwner(dir, o)
		return err
	}
	require.NoError(t, check(mine), "there is no directory yet")
	require.NoError(t, durable.MakeDir(dir))
	require.NoError(t, check(mine), "nobody has noted")
	require.NoError(t, own(dir, mine))
	before, err := os.ReadFile(filepath.Join(dir, ownerFile))
	require.NoError(t, err)
	for _, other := range []Owner{{2, "plant"}, {1, "plants"}, {11, "plant"}, {1, ""}} {
		for _, refused := range []error{check(other), own(dir, other)} {
			require.ErrorIs(t, refused, ErrOwner)
			for _, part := range []string{dir, mine.String(), other.String(), filepath.Join(dir, ownerFile)} {
				require.ErrorContains(t, refused, part)
			}
		}
	}
	require.NoError(t, check(mine))
	require.NoError(t, own(dir, mine), "again")
	after, err := os.ReadFile(filepath.Join(dir, ownerFile))
	require.NoError(t, err)
	require.Equal(t, before, after)
}

func TestAStorageHasOneOwner(t *testing.T) { strangers(t) }

func TestADamagedOwnerIsRefused(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, ownerFile)
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	_, early := checkOwner(dir, Owner{1, "plant"})
	for _, err := range []error{early, own(dir, Owner{1, "plant"})} {
		require.ErrorIs(t, classify(err), failaware.ErrDamaged)
		require.ErrorContains(t, err, path)
	}
}
