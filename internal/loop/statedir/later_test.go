package statedir

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/durable"
)

// Files of a newer build are refused as such: they are not damaged, and to remove them would
// break promises.
func TestFilesOfANewerBuildAreNotDamaged(t *testing.T) {
	for _, k := range []durable.Kind{recordKind, epochKind} {
		dir := nodeWithEpoch(t)
		path := filepath.Join(dir, map[string]string{recordKind.Name: "node-1.state", epochKind.Name: "node-1.epoch"}[k.Name])
		k.Version++
		require.NoError(t, durable.Write(path, k, []byte("more")))
		before, err := os.ReadFile(path)
		require.NoError(t, err)

		d, err := begin(dir, 1, time.Second)
		if err == nil {
			_, err = readEpoch(d, Configured{})
			require.NoError(t, d.Close())
		}
		later, ok := errors.AsType[*durable.LaterError](err)
		require.True(t, ok, "%v", err)
		require.Equal(t, path, later.Path)
		require.NotErrorIs(t, err, ErrDamaged)
		require.ErrorContains(t, err, "StateDir: a newer build of failaware has written "+path)
		after, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, before, after)
	}
}
