package statedir

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/durable"
	"github.com/failaware/failaware/leader/epoch"
	"github.com/failaware/failaware/timed"
)

// The whole content of a state file is checked: nothing may follow it, and no value may
// be out of its range. The limits themselves are read.
func TestContentOfTheStateFile(t *testing.T) {
	for text, good := range map[string]bool{
		"node 1 incarnations 3 maxlock 0 epoch false views 0 entered 0 phase 0 group \"a group\"\n":                                    true,
		fmt.Sprintf("node 1 incarnations 3 maxlock %d epoch false views 0 entered 0 phase 0 group \"a group\"\n", timed.MaxDuration):   true,
		fmt.Sprintf("node 1 incarnations 3 maxlock %d epoch false views 0 entered 0 phase 0 group \"a group\"\n", timed.MaxDuration+1): false,
		"node 1 incarnations 3 maxlock -1 epoch false views 0 entered 0 phase 0 group \"a group\"\n":                                   false,
		"node 1 incarnations 3 maxlock 5 epoch false views 4611686018427387904 entered 0 phase 0 group \"a group\"\n":                  true,
		"node 1 incarnations 3 maxlock 5 epoch false views 4611686018427387905 entered 0 phase 0 group \"a group\"\n":                  false,
		"node 1 incarnations 18446744073709551615 maxlock 5 epoch false views 0 entered 0 phase 0 group \"a group\"\n":                 false,
		"node 1 incarnations 3 maxlock 5 epoch false views 0 entered 0 phase 0 group \"a group\"\nmore\n":                              false,
		"node 1 incarnations 03 maxlock 5 epoch false views 0 entered 0 phase 0 group \"a group\"\n":                                   false,
		"node 1 incarnations 3 maxlock 5 epoch false views 0 entered 0 phase 0\n":                                                      false,
		"node 1 incarnations 3 maxlock 5 epoch false views 0 entered 0 phase 0 group \"\"\n":                                           false,
		"node 1 incarnations 3 maxlock 5 epoch false views 0 entered 0 phase 0 group `a group`\n":                                      false,
		"node 1 incarnations 3 maxlock 5 epoch false\n":                                                                                false,
		"node 1 incarnations 3 maxlock 5 epoch false views 0\n":                                                                        false,
		"node 1 incarnations 3 maxlock 5 epoch true views 0 entered 7 phase 4 group \"a group\"\n":                                     false,
		"node 1 incarnations 3 maxlock 5 epoch false views 0 entered 7 phase 0 group \"a group\"\n":                                    false,
		"node 2 incarnations 3 maxlock 5 epoch false views 0 entered 0 phase 0 group \"a group\"\n":                                    false,
		"": false,
	} {
		dir := t.TempDir()
		require.NoError(t, durable.Write(filepath.Join(dir, "node-1.state"), recordKind, []byte(text)))
		d, err := begin(dir, 1, time.Second)
		if !good {
			require.ErrorIs(t, err, ErrDamaged, "%q", text)
			continue
		}
		require.NoError(t, err, "%q", text)
		require.EqualValues(t, 4, d.Incarnation())
		require.NoError(t, d.Close())
	}
}

// An epoch whose quorum system is none is refused, although all of the file was written so. With a
// later build's system, the node would count no quorum.
func TestAnEpochOfNoSystemIsRefused(t *testing.T) {
	d, err := begin(t.TempDir(), 1, time.Second)
	require.NoError(t, err)
	for system, good := range map[string]bool{"majority:1,2,3": true, "majority:": false, "another:1": false} {
		require.NoError(t, d.WriteEpoch(&epoch.State{Epoch: 1, System: system}))
		_, err := d.ReadEpoch(Configured{})
		if good {
			require.NoError(t, err)
			continue
		}
		require.ErrorIs(t, err, ErrDamaged, system)
		require.ErrorContains(t, err, d.epochPath())
	}
	require.NoError(t, d.Close())
}

// A file that cannot be read is no file that is missing: nothing begins without it.
func TestUnreadableFilesAreRefused(t *testing.T) { unreadable(t) }

func unreadable(t testing.TB) {
	for _, name := range []string{"node-1.state", "node-1.epoch"} {
		dir := t.TempDir()
		if name == "node-1.epoch" { // beside a state
			d, err := begin(dir, 1, time.Second)
			require.NoError(t, err)
			require.NoError(t, d.Close())
		}
		require.NoError(t, os.Mkdir(filepath.Join(dir, name), 0o700))
		d, err := begin(dir, 1, time.Second)
		if err == nil {
			_, err = readEpoch(d, Configured{Join: true})
			require.NoError(t, d.Close())
		}
		require.Error(t, err, name)
		require.NotErrorIs(t, err, ErrDamaged, name)
		require.ErrorContains(t, err, "it is not a regular file", "nothing was written")
	}
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err := begin(file, 1, time.Second)
	require.Error(t, err)
	require.NotErrorIs(t, err, ErrInUse)
}

// What cannot be written is no state: the caller hears of it, and the old state counts.
func TestUnwrittenStateIsReported(t *testing.T) { unwritten(t) }

func unwritten(t testing.TB) {
	dir := t.TempDir()
	d, err := begin(dir, 1, time.Second)
	require.NoError(t, err)
	state := filepath.Join(dir, "node-1.state")
	kept, err := os.ReadFile(state)
	require.NoError(t, err)
	// A directory in the place of the temporary file, or of the file, fails every write.
	require.NoError(t, os.Remove(state))
	require.NoError(t, os.MkdirAll(filepath.Join(state, "in the way"), 0o700))
	require.Error(t, d.Count())
	require.Error(t, d.ReserveViews(1<<20))
	require.Error(t, d.Lower(time.Millisecond))
	require.EqualValues(t, 1, d.Incarnation())
	require.NoError(t, os.RemoveAll(state))
	require.NoError(t, os.WriteFile(state, kept, 0o600))
	require.NoError(t, d.Close())
	d, err = begin(dir, 1, time.Second)
	require.NoError(t, err)
	require.EqualValues(t, 2, d.Incarnation())
	require.NoError(t, d.Close())
}
