package store

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/kv"
	"github.com/failaware/failaware/replicate"
	"github.com/failaware/failaware/timed"
)

// heldUpIsTold reports whether a node whose commands are held up by other disks does not say
// that it takes them, in its status and its counts.
func heldUpIsTold() bool {
	free := replicate.Progress{Situation: replicate.Working, Accepting: true}
	held := free
	held.Unstored, held.UnstoredFor = timed.SetOf(2, 3), time.Minute
	return takesCommands(&free, lags{}) && !takesCommands(&held, lags{})
}

func TestHeldUpIsTold(t *testing.T) { require.True(t, heldUpIsTold()) }

// The status of a node whose disk is full, and what it cannot answer, name the disk.
func TestFullDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := startGroup(t, kv.Partitionable, 1, 1)
		defer g.close()
		s := g.stores[0]
		const why = "begin kv/log-0000000000000181: no space left on device"
		full := errors.Join(errors.New(why), errors.New(why)) // writing fails, and tidying up

		var a api.KVStatus
		describe(replicate.Progress{Situation: replicate.Working, Full: full}, lags{}, 1, &a)
		require.Equal(t, why, a.Disk)
		waits := &replicate.NotAcceptingError{Situation: replicate.Working, Full: full}
		require.EqualError(t, s.explain(waits), "this node waits for its disk: "+why)

		transfers := &replicate.NotAcceptingError{Situation: replicate.Transferring, Full: full}
		require.EqualError(t, s.explain(transfers), "this node cannot answer: waits for the state of others; this node waits for its disk: "+why)

		s.Describe(&a)
		require.True(t, a.Accepting)
		require.Empty(t, a.Disk)
		describe(replicate.Progress{Situation: replicate.Working, Accepting: true, Unstored: timed.SetOf(2, 3), UnstoredFor: time.Minute}, lags{}, 1, &a)
		require.Equal(t, []int{2, 3}, a.Unstored)
		require.Equal(t, int64(time.Minute), a.UnstoredNS)
		require.False(t, a.Accepting, "commands have no outcome")
		require.Equal(t, "it waits for the disks of nodes {2 3}: 'failaware kv status' there says why", hindrance(&replicate.Progress{Unstored: timed.SetOf(2, 3)}, 1))
		require.Empty(t, hindrance(&replicate.Progress{}, 1))

		require.True(t, saysUnknown(s, waits))
		require.Equal(t, []string{ownDisk + why}, s.hindrances(replicate.Progress{Situation: replicate.Working, Full: full}))
		require.Empty(t, s.hindrances(s.replica.Progress()))
		require.True(t, s.Counts().Accepting)
		require.Equal(t, full, s.explain(full), "it is no refusal")
		tooLarge := s.explain(fmt.Errorf("put: %w", failaware.ErrTooLarge))
		require.ErrorIs(t, tooLarge, failaware.ErrTooLarge)
		require.ErrorContains(t, tooLarge, "--broadcast-max-payload")
		describe(replicate.Progress{Situation: replicate.Recovering, Absent: timed.SetOf(2, 3)}, lags{}, 1, &a)
		require.Equal(t, []int{2, 3}, a.Absent)
		waits.Full, a = nil, api.KVStatus{}
		s.Describe(&a)
		require.Empty(t, a.Unstored)
		require.NotContains(t, s.explain(waits).Error(), "room")
	})
}

// A node whose own disk holds commands up says that of it, and sends nobody to itself.
func TestTheOwnDiskIsToldApart(t *testing.T) { require.Empty(t, ownDiskIsToldApart()) }

func ownDiskIsToldApart() (wrong string) {
	for _, c := range []struct {
		situation replicate.Situation
		unstored  timed.Set
		disk      string
		others    []int
	}{
		{replicate.Working, timed.SetOf(1, 2), "it has not taken what was written 1m47s ago", []int{2}},
		{replicate.Working, timed.SetOf(2), "", []int{2}},
		{replicate.Transferring, timed.SetOf(1), "", nil}, // it has no state to write
		{replicate.Transferring, timed.SetOf(1, 2), "", []int{2}},
	} {
		p := replicate.Progress{Situation: c.situation, Accepting: true, Unstored: c.unstored, UnstoredFor: 107 * time.Second}
		var a api.KVStatus
		describe(p, lags{}, 1, &a)
		if a.Disk != c.disk || !slices.Equal(a.Unstored, c.others) || a.Accepting || strings.Contains(hindrance(&p, 1), "{1") {
			wrong += fmt.Sprintf("%v, %v: %q, %v, %q; ", c.situation, c.unstored, a.Disk, a.Unstored, hindrance(&p, 1))
		}
	}
	return wrong
}

// saysUnknown reports whether a store says that an outcome is unknown, also if a refusal is why.
// A refusal alone denies that the command is carried out.
func saysUnknown(s *Store, refusal error) bool {
	err := s.explain(&failaware.UnknownOutcomeError{Reason: failaware.NotAwaited, Err: refusal})
	return strings.HasPrefix(err.Error(), "the outcome is unknown, the command may be carried out or not: ")
}

// A node that waits for a snapshot which another node cannot make says so, until one comes.
func TestTheObstacleOfATransferIsSaid(t *testing.T) { obstacleIsSaid(t) }

func obstacleIsSaid(t testing.TB) {
	s := &Store{}
	s.counted.events = noEvents()
	said := func(now replicate.Situation) string {
		var a api.KVStatus
		s.waitsFor(&a, &replicate.Progress{Situation: now})
		return a.Obstacle
	}
	var a api.KVStatus
	p := replicate.Progress{Situation: replicate.Reporting, Unreported: timed.SetOf(2, 3)}
	s.waitsFor(&a, &p)
	require.Equal(t, "nodes {2 3} have not reported their state; all must run with --kv", a.Obstacle)
	require.Empty(t, said(replicate.Transferring))
	s.noteEvent(replicate.Refused{Source: 2})
	require.Equal(t, "node 2 cannot make a snapshot: its log says why", said(replicate.Transferring))
	require.Equal(t, said(replicate.Transferring), said(replicate.Merging))
	require.Empty(t, said(replicate.Working), "it waits for nothing")
	s.noteEvent(replicate.Receiving{})
	require.NotEmpty(t, said(replicate.Transferring))
	for _, end := range []replicate.Event{replicate.Restored{}, replicate.Merged{}, replicate.Settled{}} {
		s.noteEvent(replicate.Stuck{})
		require.NotEmpty(t, said(replicate.Transferring))
		s.noteEvent(end)
		require.Empty(t, said(replicate.Transferring), "%T", end)
	}
}

// The status of a node says for good that its state began without what was acknowledged before.
func TestALossAtTheBeginningIsSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := startGroup(t, kv.Linearizable, 1, 1)
		defer g.close()
		s := g.stores[0]
		var a api.KVStatus
		s.Describe(&a)
		require.Empty(t, a.Lossy, "the group is new")
		s.noteEvent(replicate.Begun{Lossy: true})
		s.noteEvent(replicate.Begun{})
		s.noteEvent(replicate.Settled{})
		s.Describe(&a)
		require.Contains(t, a.Lossy, "what the group has acknowledged before, if anything, is gone. With --kv-dir at all nodes")
	})
}
