package replicate

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/replica"
	"github.com/failaware/failaware/internal/session"
)

// silent is an application whose state is always the same.
type silent struct{ merged int }

func (*silent) Apply(Operation) any      { return nil }
func (*silent) Snapshot(io.Writer) error { return nil }
func (*silent) Restore(io.Reader) error  { return nil }
func (*silent) Hash() uint64             { return 7 }

func (s *silent) Merge([]Branch) error {
	s.merged++
	return nil
}

// timely is an application whose commands have a time after their first byte.
type timely struct{ silent }

func (*timely) Recognize(command []byte) uint64 { return uint64(command[0]) }

// twoAttempts returns what becomes of two attempts of an operation.
func twoAttempts(app Application) (first, second session.Answer) {
	a := newAdapter(app)
	d := broadcast.Delivery{ID: broadcast.ID{Sender: 1, Boot: 2, Sequence: 3}, Payload: session.AppendOpen(nil)}
	a.Apply(d)
	id := session.ID{Node: 1, Boot: 2, Sequence: 3}
	use := func(command string) session.Answer {
		d.Payload = session.AppendUse(nil, id, 1, []byte(command))
		return a.Apply(d).(session.Answer)
	}
	return use("a at 1"), use("a at 2")
}

// An application recognizes attempts that are not the same bytes.
func TestAttemptsAreRecognized(t *testing.T) { attemptsAreRecognized(t) }

func attemptsAreRecognized(t testing.TB) {
	first, second := twoAttempts(&timely{})
	require.Equal(t, session.Answer{}, first)
	require.Equal(t, session.Answer{Repeated: true}, second)
	_, second = twoAttempts(&silent{})
	require.Equal(t, session.Answer{Err: session.ErrReused}, second)
}

// opened returns an adapter with one session.
func opened() *adapter {
	a := newAdapter(&silent{})
	a.Apply(broadcast.Delivery{ID: broadcast.ID{Sender: 1, Boot: 2, Sequence: 3}, Payload: session.AppendOpen(nil)})
	return a
}

func sessionsAreCompared(t testing.TB) {
	require.NotEqual(t, newAdapter(&silent{}).Hash(), opened().Hash())
	require.Equal(t, opened().Hash(), opened().Hash())
}

// Members compare their sessions too: one that lacks a session applies an operation twice.
func TestSessionsAreCompared(t *testing.T) { sessionsAreCompared(t) }

// content returns a state in memory.
func content(t testing.TB, b []byte) *replica.Content {
	cfg := replica.Config{NewBytes: func() replica.Bytes { return new(replica.Memory) }}
	cfg = cfg.WithDefaults()
	c := cfg.NewContent()
	_, err := c.Write(b)
	require.NoError(t, err)
	return c
}

func damagedSessionsAreRefused(t testing.TB) {
	var state bytes.Buffer
	require.NoError(t, opened().Save(&state))
	whole := state.Bytes()
	long := binary.BigEndian.AppendUint32(nil, 1<<31)
	for _, damaged := range [][]byte{nil, whole[:3], whole[:len(whole)-1], append(long, whole[4:]...)} {
		require.Error(t, opened().Load(bytes.NewReader(damaged)))
		a := opened()
		before := a.sessions
		require.Error(t, a.Merge([]replica.Branch{{State: content(t, whole)}, {State: content(t, damaged)}}))
		require.Zero(t, a.app.(*silent).merged, "nothing is merged")
		require.Same(t, before, a.sessions)
	}
	a := newAdapter(&silent{})
	require.NoError(t, a.Merge([]replica.Branch{{State: content(t, whole)}, {State: content(t, whole)}}))
	require.Equal(t, 1, a.sessions.Len())
	require.Equal(t, 1, a.app.(*silent).merged)
}

// A state whose sessions cannot be read is neither taken nor merged.
func TestDamagedSessionsAreRefused(t *testing.T) { damagedSessionsAreRefused(t) }

// trusting is an application that takes every error of a read for the end.
type trusting struct{ silent }

func (*trusting) Merge(branches []Branch) error {
	for _, b := range branches {
		_, _ = io.Copy(io.Discard, b.State)
	}
	return nil
}

// cut is bytes that cannot be read to their end.
type cut struct{ replica.Memory }

var errUnread = errors.New("input/output error")

// ReadAt implements [io.ReaderAt].
func (c *cut) ReadAt(p []byte, off int64) (int, error) {
	n, _ := c.Memory.ReadAt(p, off)
	return max(0, n-1), errUnread
}

// branchUnread merges two states, of which one cannot be read behind its sessions.
func branchUnread(t testing.TB) {
	whole := append(make([]byte, 4), "state"...) // without sessions
	cfg := replica.Config{NewBytes: func() replica.Bytes { return new(cut) }}.WithDefaults()
	unread := cfg.NewContent()
	_, err := unread.Write(whole)
	require.NoError(t, err)
	a := newAdapter(&trusting{})
	require.NoError(t, a.Merge([]replica.Branch{{State: content(t, whole)}, {State: content(t, whole)}}))
	require.ErrorIs(t, a.Merge([]replica.Branch{{State: unread}, {State: content(t, whole)}}), errUnread)
}

// The application need not pass on why it could not read.
func TestABranchThatCannotBeReadIsNotMerged(t *testing.T) { branchUnread(t) }
