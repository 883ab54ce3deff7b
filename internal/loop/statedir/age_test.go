package statedir

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/durable"
	"github.com/failaware/failaware/leader/epoch"
	"github.com/failaware/failaware/timed"
)

// aged are a node's two files at a time, and how far its epoch was.
type aged struct {
	state, epochs []byte
	at            progress
}

// age has a node run five times. Its files are copied when the epoch was written, and when
// each of its counters has grown.
func age(t testing.TB, dir string) (times []aged) {
	for n, p := range []progress{{1, epoch.Idle}, {1, epoch.Wedged}, {2, epoch.Idle}, {4, epoch.Idle}, {4, epoch.Wedged}} {
		d, err := begin(dir, 1, time.Second)
		require.NoError(t, err)
		if n > 0 {
			_, err = readEpoch(d, Configured{})
			require.NoError(t, err)
		}
		for _, grow := range []func() error{
			func() error { return d.WriteEpoch(stateOf(p)) },
			func() error { return d.ReserveViews(d.views.Load() + 1) },
			d.Count,
		} {
			require.NoError(t, grow())
			one := aged{at: p}
			one.state, err = os.ReadFile(filepath.Join(dir, "node-1.state"))
			require.NoError(t, err)
			one.epochs, err = os.ReadFile(filepath.Join(dir, "node-1.epoch"))
			require.NoError(t, err)
			times = append(times, one)
		}
		require.NoError(t, d.Close())
	}
	return times
}

// olderCopies plays every way in which a node's two files can be from two times. It must
// not start with a file that is older than the other, unless they say the same of the epoch
// and the older one is that of the epoch.
func olderCopies(t testing.TB) {
	dir := t.TempDir()
	state, epochs := filepath.Join(dir, "node-1.state"), filepath.Join(dir, "node-1.epoch")
	times := age(t, dir)
	for i := range times {
		for j := range times {
			require.NoError(t, os.WriteFile(state, times[i].state, 0o600))
			require.NoError(t, os.WriteFile(epochs, times[j].epochs, 0o600))
			d, err := begin(dir, 1, time.Second)
			if j > i {
				require.ErrorIs(t, err, ErrDamaged, "state %d, epoch %d", i, j)
				require.ErrorContains(t, err, state+" is older than "+epochs)
				b, err := os.ReadFile(state)
				require.NoError(t, err)
				require.Equal(t, times[i].state, b, "a refusal changes nothing")
				continue
			}
			require.NoError(t, err)
			s, err := readEpoch(d, Configured{})
			require.NoError(t, d.Close())
			if times[i].at == times[j].at {
				require.NoError(t, err)
				require.Equal(t, times[j].at, progressOf(s))
				continue
			}
			require.ErrorIs(t, err, ErrDamaged, "state %d, epoch %d", i, j)
			for _, part := range []string{epochs + " is older than " + state, times[i].at.String(), times[j].at.String()} {
				require.ErrorContains(t, err, part)
			}
			b, err := os.ReadFile(epochs)
			require.NoError(t, err)
			require.Equal(t, times[j].epochs, b, "a refusal changes nothing")
		}
	}
}

// countersAreTheLatest requires that the file of the epoch has the counters of the state file
// behind each write, or the copy of the state file from before that write would be accepted.
func countersAreTheLatest(t testing.TB) {
	dir := nodeWithEpoch(t)
	d, err := begin(dir, 1, time.Second)
	require.NoError(t, err)
	_, err = readEpoch(d, Configured{})
	require.NoError(t, err)
	for range 3 {
		for _, grow := range []func() error{d.Count, func() error { return d.ReserveViews(d.views.Load() + 1) }} {
			require.NoError(t, grow())
			_, has, err := d.epochFile()
			require.NoError(t, err)
			require.Equal(t, d.stored.counters(), has)
		}
	}
	require.NoError(t, d.Close())
}

func TestTheEpochHasTheLatestCounters(t *testing.T) { countersAreTheLatest(t) }

// Each id that a node can have may be a former one.
func formerIDs(t testing.TB) {
	dir := t.TempDir()
	a, err := OpenAssigned(dir)
	require.NoError(t, err)
	ids := timed.SetOf(1, 100, timed.MaxNodes)
	for id := range ids.All() {
		d, err := begin(dir, id, time.Second)
		require.NoError(t, err)
		require.NoError(t, d.Close())
	}
	require.Equal(t, ids, a.Former())
	require.NoError(t, a.Close())
}

func TestEachIDMayBeAFormerOne(t *testing.T) { formerIDs(t) }

// An id that is given up is forgotten in this process as well as in the next one.
func TestAForgottenIDIsNone(t *testing.T) {
	dir := t.TempDir()
	a, err := OpenAssigned(dir)
	require.NoError(t, err)
	require.NoError(t, a.Keep(7))
	require.EqualValues(t, 7, a.ID())
	require.NoError(t, a.Forget())
	require.Equal(t, timed.NoNode, a.ID())
	require.NoError(t, a.Close())
	a, err = OpenAssigned(dir)
	require.NoError(t, err)
	require.Equal(t, timed.NoNode, a.ID())
	require.NoError(t, a.Close())
}

// A node that has lost its configured id does not go on as another one.
func configuredIDs(t testing.TB) {
	dir := t.TempDir()
	d, err := begin(dir, 5, time.Second)
	require.NoError(t, err)
	require.NoError(t, d.Close())
	for range 2 {
		_, err = OpenAssigned(dir)
		require.ErrorContains(t, err, "StateDir: "+dir+" has the state of the nodes {5}")
	}
}

func TestAConfiguredIDIsNotLeftAside(t *testing.T) { configuredIDs(t) }

// A crash between the writes of the two files costs nothing: the state file has the counters
// first, and the other one the epoch.
func TestCrashesBetweenTheFilesAreNoAge(t *testing.T) {
	dir := t.TempDir()
	state, epochs := filepath.Join(dir, "node-1.state"), filepath.Join(dir, "node-1.epoch")
	d, err := begin(dir, 1, time.Second)
	require.NoError(t, err)
	require.NoError(t, d.WriteEpoch(stateOf(progress{1, epoch.Idle})))
	for path, grow := range map[string]func() error{
		state:  func() error { return d.WriteEpoch(stateOf(progress{2, epoch.Idle})) }, // which is written last
		epochs: d.Count,
	} {
		before, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, grow())
		require.NoError(t, os.WriteFile(path, before, 0o600))
	}
	require.NoError(t, d.Close())
	d, err = begin(dir, 1, time.Second)
	require.NoError(t, err)
	_, err = readEpoch(d, Configured{})
	require.NoError(t, err)
	require.NoError(t, d.Close())
}

func TestAFileOlderThanTheOtherIsRefused(t *testing.T) { olderCopies(t) }

// What an accepted file had is known from then on: the state file of a former release says
// nothing, and a crash can come before it is written.
func TestAnAcceptedEpochIsNoted(t *testing.T) { acceptedIsNoted(t) }

func acceptedIsNoted(t testing.TB) {
	dir := nodeWithEpoch(t)
	state, epochs := filepath.Join(dir, "node-1.state"), filepath.Join(dir, "node-1.epoch")
	old, err := os.ReadFile(epochs)
	require.NoError(t, err)
	require.NoError(t, durable.Write(state, formerKinds[1], []byte(format(3, 1, record{Incarnations: 7, MaxLock: time.Second, HasEpoch: true}))))
	require.NoError(t, durable.Write(epochs, formerEpochKind, epoch.Append(nil, stateOf(progress{2, epoch.Wedged}))))
	read := func() error {
		d, err := begin(dir, 1, time.Second)
		require.NoError(t, err)
		_, err = readEpoch(d, Configured{})
		require.NoError(t, d.Close())
		return err
	}
	require.NoError(t, read())
	require.NoError(t, os.WriteFile(epochs, old, 0o600))
	require.ErrorIs(t, read(), ErrDamaged)
}
