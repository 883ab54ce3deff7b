package statedir

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/durable"
)

// countedUnknown has a disk fail when an incarnation is counted, at one of the two files, before
// or after that is written. Nothing is written any more, and the next process starts.
func countedUnknown(t testing.TB) {
	for _, file := range []int{1, 2} {
		for _, written := range []bool{false, true} {
			dir := t.TempDir()
			d, err := begin(dir, 1, time.Second)
			require.NoError(t, err)
			require.NoError(t, d.WriteEpoch(stateOf(progress{Epoch: 1})))
			writes, failed := 0, errors.New("the disk fails")
			d.put = func(path string, k durable.Kind, b []byte) (err error) {
				if writes++; writes != file || written {
					err = durable.Write(path, k, b)
				}
				if writes == file {
					err = failed
				}
				return err
			}
			counted := d.Incarnation()
			require.ErrorIs(t, d.Count(), failed)
			for _, later := range []func() error{
				func() error { return d.ReserveViews(d.views.Load() + 1) },
				func() error { return d.WriteEpoch(stateOf(progress{Epoch: 2})) },
				func() error { return d.Lower(0) },
				d.Count,
			} {
				require.ErrorIs(t, later(), failed)
			}
			require.Equal(t, file, writes)
			require.NoError(t, d.Close())
			d, err = begin(dir, 1, time.Second)
			require.NoError(t, err, "file %d, written: %v", file, written)
			require.Greater(t, d.Incarnation(), counted)
			require.NoError(t, d.Close())
		}
	}
}

// loweredUnknown has a disk fail when a shorter lock time is written. The node goes on, and the next
// process starts.
func loweredUnknown(t testing.TB) {
	dir := t.TempDir()
	d, err := begin(dir, 1, time.Second)
	require.NoError(t, err)
	failed := errors.New("the disk fails")
	for _, written := range []bool{false, true} {
		d.put = func(path string, k durable.Kind, b []byte) error {
			if written {
				require.NoError(t, durable.Write(path, k, b))
			}
			return failed
		}
		require.ErrorIs(t, d.Lower(time.Millisecond), failed)
		d.put = durable.Write
		require.NoError(t, d.Count())
	}
	require.NoError(t, d.Lower(time.Millisecond))
	require.NoError(t, d.Close())
	d, err = begin(dir, 1, time.Microsecond)
	require.NoError(t, err)
	require.Equal(t, time.Millisecond, d.Earlier())
	require.NoError(t, d.Close())
}

func TestALockTimeOfUnknownOutcomeEndsNobody(t *testing.T) { loweredUnknown(t) }

func TestNothingIsWrittenAfterAFailure(t *testing.T) { countedUnknown(t) }
