package statedir

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/durable"
	"github.com/failaware/failaware/membership"
)

// hung is a directory whose disk hangs, until release is called.
type hung struct {
	release func()
	calls   sync.WaitGroup // of waits
}

// hang calls a function of a directory whose disk hangs at a file, and returns when it hangs.
// release waits for the end of the call.
func hang(t testing.TB, d *Dir, file string, call func() error) *hung {
	hangs, goes, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
	d.put = func(path string, k durable.Kind, b []byte) error {
		if path == file {
			close(hangs)
			<-goes
		}
		return durable.Write(path, k, b)
	}
	go func() {
		defer close(done)
		_ = call()
	}()
	<-hangs
	h := &hung{release: sync.OnceFunc(func() {
		close(goes)
		<-done
	})}
	t.Cleanup(h.calls.Wait) // they write to the directory, which goes then
	t.Cleanup(h.release)
	return h
}

// waits reports whether a call waits for something, and returns its error otherwise.
func (h *hung) waits(call func() error, patience time.Duration) (bool, error) {
	done := make(chan error, 1)
	h.calls.Go(func() { done <- call() })
	select {
	case err := <-done:
		return false, err
	case <-time.After(patience):
		return true, nil
	}
}

// membersHoldNobodyUp has a disk hang while it writes the members, on which nothing rests. The
// node goes on, and the directory stays its own until that is over.
func membersHoldNobodyUp(t testing.TB) {
	d, err := begin(t.TempDir(), 1, time.Second)
	require.NoError(t, err)
	h := hang(t, d, d.membersPath(), func() error { return d.KeepMembers([]Member{{ID: 2}}) })
	for _, call := range []func() error{
		func() error { return d.ReserveViews(1) },
		func() error { return d.WriteEpoch(stateOf(progress{Epoch: 1})) },
		d.Count,
	} {
		hangs, err := h.waits(call, 3*time.Second)
		require.NoError(t, err)
		require.False(t, hangs, "it waits for a disk that writes the members")
	}
	// Most times it is noticed if it does not wait.
	hangs, err := h.waits(d.Close, 10*time.Millisecond)
	require.NoError(t, err)
	require.True(t, hangs, "another process would write the same file")
	h.release()
	require.NoError(t, d.Close())
}

func TestMembersHoldNobodyUp(t *testing.T) { membersHoldNobodyUp(t) }

// reservedHoldsNobodyUp has a disk hang while it writes a lock time. The loop asks in each turn
// whether the sequence of its view is reserved, which it is.
func reservedHoldsNobodyUp(t testing.TB) {
	d, err := begin(t.TempDir(), 1, time.Second)
	require.NoError(t, err)
	require.NoError(t, d.ReserveViews(1))
	h := hang(t, d, d.path, func() error { return d.Lower(1) })
	hangs, err := h.waits(func() error { return d.ReserveViews(reserved) }, 3*time.Second)
	require.NoError(t, err)
	require.False(t, hangs)
	h.release()
	require.NoError(t, d.Close())
}

func TestWhatIsReservedHoldsNobodyUp(t *testing.T) { reservedHoldsNobodyUp(t) }

var errFull = fmt.Errorf("a test: %w", ErrFull)

// halfWritten has each write of a file fail once, as on a full disk, in every order. The next
// attempt writes what is left: both files have the same counters then, and the epoch.
func halfWritten(t testing.TB) {
	for _, change := range []func(d *Dir) error{
		func(d *Dir) error { return d.ReserveViews(d.views.Load() + 1) },
		(*Dir).Count,
		func(d *Dir) error { return d.WriteEpoch(stateOf(progress{Epoch: 2})) },
	} {
		for failing := 1; failing <= 2; failing++ {
			dir := t.TempDir()
			d, err := begin(dir, 1, time.Second)
			require.NoError(t, err)
			require.NoError(t, d.WriteEpoch(stateOf(progress{Epoch: 1})))
			want, calls := d.stored, 0
			d.put = func(path string, k durable.Kind, b []byte) error {
				if calls++; calls == failing {
					return errFull
				}
				return durable.Write(path, k, b)
			}
			require.ErrorIs(t, change(d), errFull)
			require.Equal(t, want, d.stored, "nothing may rest on it yet")
			require.NoError(t, change(d))
			require.NotEqual(t, want, d.stored)
			sameAsModel(t, d, d.stored)
			require.NoError(t, d.Close())
			d, err = begin(dir, 1, time.Second)
			require.NoError(t, err)
			require.NoError(t, d.Close())
		}
	}
}

func TestHalfAWriteIsFinished(t *testing.T) { halfWritten(t) }

// Each of the first writes fails once.
func TestABeginningIsTriedAgain(t *testing.T) {
	for failing := 1; failing <= 4; failing++ {
		dir, calls := t.TempDir(), 0
		d, err := Open(dir, Owner{ID: 1, Group: "a group"}, time.Second)
		require.NoError(t, err)
		d.put = func(path string, k durable.Kind, b []byte) error {
			if calls++; calls == failing {
				return errFull
			}
			return durable.Write(path, k, b)
		}
		require.NoError(t, d.WriteEpoch(stateOf(progress{Epoch: 1})))
		require.NoError(t, d.KeepMembers([]Member{{ID: 2}}))
		require.NoError(t, d.ReserveViews(membership.MaxSequence))
		require.ErrorIs(t, d.Begin(), errFull)
		require.NoError(t, d.KeepMembers([]Member{{ID: 3}}))
		require.Equal(t, failing, calls, "the node has not begun")
		require.NoError(t, d.Begin())
		require.Equal(t, uint64(1), d.Incarnation())
		sameAsModel(t, d, record{Incarnations: 1, MaxLock: time.Second, HasEpoch: true, Views: membership.MaxSequence, Least: progress{Epoch: 1}, Group: "a group"})
		require.NoError(t, d.Close())
	}
}
