package statedir

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/durable"
	"github.com/failaware/failaware/leader/epoch"
)

// olderCopies plays every way in which a node's two files can be from two times: it must
// not start with an epoch that is older than its state, and must with any other.
func olderCopies(t testing.TB) {
	dir := t.TempDir()
	state, epochs := filepath.Join(dir, "node-1.state"), filepath.Join(dir, "node-1.epoch")
	steps := []progress{{1, epoch.Idle}, {1, epoch.Wedged}, {2, epoch.Idle}, {4, epoch.Idle}, {4, epoch.Wedged}}
	var states, copies [][]byte
	for _, p := range steps {
		d, err := Open(dir, 1, time.Second)
		require.NoError(t, err)
		require.NoError(t, d.WriteEpoch(stateOf(p)))
		require.NoError(t, d.Close())
		for path, all := range map[string]*[][]byte{state: &states, epochs: &copies} {
			b, err := os.ReadFile(path)
			require.NoError(t, err)
			*all = append(*all, b)
		}
	}
	for i := range steps {
		for j := range steps {
			require.NoError(t, os.WriteFile(state, states[i], 0o600))
			require.NoError(t, os.WriteFile(epochs, copies[j], 0o600))
			d, err := Open(dir, 1, time.Second)
			require.NoError(t, err)
			s, err := d.ReadEpoch(Configured{})
			require.NoError(t, d.Close())
			if j >= i {
				require.NoError(t, err, "a crash came before the state was written")
				require.Equal(t, steps[j], progressOf(s))
				continue
			}
			require.ErrorIs(t, err, ErrDamaged, "state %v, epoch %v", steps[i], steps[j])
			for _, part := range []string{state, epochs, steps[i].String(), steps[j].String()} {
				require.ErrorContains(t, err, part)
			}
			b, err := os.ReadFile(epochs)
			require.NoError(t, err)
			require.Equal(t, copies[j], b, "a refusal changes nothing")
		}
	}
}

func TestAnEpochOlderThanTheStateIsRefused(t *testing.T) { olderCopies(t) }

// What an accepted file had is known from then on: the state file of a former release says
// nothing, and a crash can come before it is written.
func TestAnAcceptedEpochIsNoted(t *testing.T) { acceptedIsNoted(t) }

func acceptedIsNoted(t testing.TB) {
	dir := nodeWithEpoch(t)
	state, epochs := filepath.Join(dir, "node-1.state"), filepath.Join(dir, "node-1.epoch")
	old, err := os.ReadFile(epochs)
	require.NoError(t, err)
	require.NoError(t, durable.Write(state, formerKinds[0], []byte(format(3, 1, record{Incarnations: 7, MaxLock: time.Second, HasEpoch: true}))))
	require.NoError(t, durable.Write(epochs, epochKind, epoch.Append(nil, stateOf(progress{2, epoch.Wedged}))))
	read := func() error {
		d, err := Open(dir, 1, time.Second)
		require.NoError(t, err)
		_, err = d.ReadEpoch(Configured{})
		require.NoError(t, d.Close())
		return err
	}
	require.NoError(t, read())
	require.NoError(t, os.WriteFile(epochs, old, 0o600))
	require.ErrorIs(t, read(), ErrDamaged)
}
