package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/journal"
	"github.com/failaware/failaware/internal/journal/disktest"
	"github.com/failaware/failaware/internal/keep"
	"github.com/failaware/failaware/internal/replica"
	"github.com/failaware/failaware/membership"
)

// blunt is an application that does not say why it could not write.
type blunt struct{ *words }

func (b blunt) Save(w io.Writer) error {
	if err := b.words.Save(w); err != nil {
		return errors.New("blunt")
	}
	return nil
}

func TestASnapshotWaitsWhileTheDiskIsFull(t *testing.T) { snapshotWaits(t) }

// snapshotWaits fills the disk before a snapshot, and makes room after the event.
func snapshotWaits(t testing.TB) {
	disk, app := disktest.New(), blunt{&words{}}
	j, err := journal.OpenOn(disk, journal.Options{Segment: 1 << 10})
	require.NoError(t, err)
	s, err := newStore(j, app, keep.Options{Least: 300})
	require.NoError(t, err)
	s.retry = time.Millisecond
	view := membership.ViewID{Sequence: 1, Leader: 1, Boot: 1}
	require.NoError(t, s.locate(t.Context(), &replica.Place{View: view}))
	n := uint64(0)
	for _, room := range []int{0, 60} { // at its first bytes, and later
		for len(s.keeper.Compact()) == 0 {
			n++
			d := broadcast.Delivery{ID: messageID(n), Position: n, Payload: fmt.Appendf(nil, "w%d", n)}
			require.NoError(t, s.apply(t.Context(), &d, replica.Point{View: view, Position: n}))
			app.Apply(d)
		}
		require.NoError(t, s.wait(t.Context(), s.keeper.Last()))
		s.take()
		disk.SetRoom(room)
		ended := make(chan error, 1)
		go func() { ended <- s.compact(context.Background()) }()
		require.Error(t, awaitDisk(t, s, ended), "the event says why it waits")
		disk.SetRoom(-1)
		require.NoError(t, <-ended)
		require.NoError(t, awaitDisk(t, s, ended), "there is room again")
	}
	require.NoError(t, s.Close())

	again := &words{}
	j, err = journal.OpenOn(disk, journal.Options{Segment: 1 << 10})
	require.NoError(t, err)
	s, err = newStore(j, again, keep.Options{})
	require.NoError(t, err)
	require.Equal(t, strings.Join(app.list, " "), strings.Join(again.list, " "))
	require.NoError(t, s.Close())
}

// awaitDisk waits for an event about the disk, and returns its error.
func awaitDisk(t testing.TB, s *Store, ended chan error) error {
	for {
		_, _, events := s.take()
		for _, e := range events {
			if e.Kind == replica.EventDisk {
				return e.Err
			}
		}
		select {
		case <-s.News():
		case err := <-ended:
			require.NoError(t, err, "the snapshot did not wait")
			ended <- err
		case <-time.After(10 * time.Second):
			require.Fail(t, "no event about the disk")
		}
	}
}

// A snapshot that waits ends with its context.
func TestAWaitingSnapshotEndsWithItsContext(t *testing.T) {
	disk := disktest.New()
	j, err := journal.OpenOn(disk, journal.Options{Segment: 1 << 10})
	require.NoError(t, err)
	app := &words{}
	s, err := newStore(j, app, keep.Options{Least: 1})
	require.NoError(t, err)
	require.NoError(t, s.locate(t.Context(), placeOf(1)))
	log(t, s, app, 1)
	require.NoError(t, s.wait(t.Context(), s.keeper.Last()))
	disk.SetRoom(0)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.compact(ctx) }()
	require.Error(t, awaitDisk(t, s, ended))
	cancel()
	require.ErrorIs(t, <-ended, context.Canceled)
	disk.SetRoom(-1)
	require.NoError(t, s.Close())
}

// balky is an application that may refuse to write its state.
type balky struct {
	*words
	refuses atomic.Bool
}

func (b *balky) Save(w io.Writer) error {
	if b.refuses.Load() {
		return errors.New("not now")
	}
	return b.words.Save(w)
}

// A disk that has room again is not full any more, although the application cannot write the
// snapshot by then. The node would take no operations.
func TestADiskWithRoomIsNotFull(t *testing.T) {
	disk, app := disktest.New(), &balky{words: &words{}}
	j, err := journal.OpenOn(disk, journal.Options{Segment: 1 << 10})
	require.NoError(t, err)
	s, err := newStore(j, app, keep.Options{Least: 1})
	require.NoError(t, err)
	s.retry = time.Millisecond
	require.NoError(t, s.locate(t.Context(), placeOf(1)))
	log(t, s, app.words, 1)
	require.NoError(t, s.wait(t.Context(), s.keeper.Last()))
	s.take()
	disk.SetRoom(0)
	ended := make(chan error, 1)
	go func() { ended <- s.compact(t.Context()) }()
	require.Error(t, awaitDisk(t, s, ended))
	require.Error(t, s.noRoom())
	app.refuses.Store(true)
	disk.SetRoom(-1)
	require.NoError(t, <-ended, "the log has everything")
	require.NoError(t, s.noRoom())
	require.NoError(t, s.Close())
}

func TestAReplacedStateIsNotContinuedWithoutItsSnapshot(t *testing.T) { lostSnapshot(t) }

// lostSnapshot replaces the state of a store, has operations follow, and loses the snapshot.
func lostSnapshot(t testing.TB) {
	disk := disktest.New()
	var j *journal.Journal
	open := func(app Application) (*Store, error) {
		var err error
		j, err = journal.OpenOn(disk, journal.Options{})
		require.NoError(t, err)
		s, err := newStore(j, app, keep.Options{})
		if err != nil {
			require.NoError(t, j.Close())
		}
		return s, err
	}
	s, app := reopened(t, open)
	require.NoError(t, s.locate(t.Context(), placeOf(1)))
	log(t, s, app, 1)
	s.dislocate()
	app.list = []string{"of", "others"}
	require.NoError(t, s.locate(t.Context(), placeOf(2)))
	var lost *journal.MissingError
	require.ErrorAs(t, j.MissingSnapshot(s.keeper.Last()-1), &lost)
	log(t, s, app, 2)
	require.NoError(t, s.wait(t.Context(), s.keeper.Last()))
	require.NoError(t, s.Close())
	s, again := reopened(t, open)
	require.Equal(t, app.list, again.list)
	require.NoError(t, s.Close())

	require.NoError(t, disk.Remove(filepath.Base(lost.Path)))
	_, err := open(&words{})
	missing, ok := errors.AsType[*journal.MissingError](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, lost, missing)
}

// A crash before the snapshot leaves the state before, and the next process goes on with it.
func TestAStateThatWasNotReplacedGoesOn(t *testing.T) {
	disk := disktest.New()
	open := func(app Application) (*Store, error) {
		j, err := journal.OpenOn(disk, journal.Options{})
		require.NoError(t, err)
		return newStore(j, app, keep.Options{})
	}
	s, app := reopened(t, open)
	require.NoError(t, s.locate(t.Context(), placeOf(1)))
	log(t, s, app, 1)
	s.dislocate()
	replaced := s.keeper.Locate(placeOf(9))[0]
	require.NoError(t, s.append(t.Context(), replaced))
	require.NoError(t, s.wait(t.Context(), replaced.Number))
	require.NoError(t, s.Close())
	for n := uint64(2); n < 5; n++ {
		var again *words
		s, again = reopened(t, open)
		require.Equal(t, app.list, again.list)
		require.NoError(t, s.locate(t.Context(), placeOf(n)))
		log(t, s, again, n)
		require.NoError(t, s.wait(t.Context(), s.keeper.Last()))
		require.NoError(t, s.Close())
		app = again
	}
}

// unconfirmed replaces the state of a store whose process ends behind the snapshot. The next one
// finds a full disk, and applies nothing.
func unconfirmed(t testing.TB) {
	disk := disktest.New()
	var j *journal.Journal
	open := func(app Application) (*Store, error) {
		var err error
		j, err = journal.OpenOn(disk, journal.Options{})
		require.NoError(t, err)
		return newStore(j, app, keep.Options{})
	}
	s, app := reopened(t, open)
	require.NoError(t, s.locate(t.Context(), placeOf(1)))
	log(t, s, app, 1)
	s.dislocate()
	app.list = []string{"of", "others"}
	require.NoError(t, s.perform(t.Context(), s.keeper.Locate(placeOf(2))[:2]))
	require.NoError(t, s.Close())
	disk.SetRoom(0)
	s, again := reopened(t, open)
	require.Equal(t, app.list, again.list)
	disk.SetRoom(-1)
	require.NoError(t, s.wait(t.Context(), s.keeper.Last()))
	require.NoError(t, s.Close())
	for name := range disk.Files() {
		if strings.HasPrefix(name, "snapshot-") {
			require.NoError(t, disk.Remove(name))
		}
	}
	_, err := open(&words{})
	require.ErrorAs(t, err, new(*journal.MissingError), "the snapshot is missed")
	require.NoError(t, j.Close())
}

// A snapshot that a full disk left unconfirmed is confirmed once there is room.
func TestAFullDiskOnlyDefersAConfirmation(t *testing.T) { unconfirmed(t) }

func reopened(t testing.TB, open func(Application) (*Store, error)) (*Store, *words) {
	app := &words{}
	s, err := open(app)
	require.NoError(t, err)
	return s, app
}

func placeOf(view uint64) *replica.Place {
	return &replica.Place{View: membership.ViewID{Sequence: view, Leader: 1, Boot: 1}}
}

// log applies an operation in a view.
func log(t testing.TB, s *Store, app *words, view uint64) {
	d := broadcast.Delivery{ID: messageID(view), Position: 1, Payload: fmt.Appendf(nil, "w%d", view)}
	require.NoError(t, s.apply(t.Context(), &d, replica.Point{View: placeOf(view).View, Position: 1}))
	app.Apply(d)
}

// A process that starts again counts the operations on the disk to those after which it
// makes a snapshot: the log of one that starts often does not grow for ever.
func countsOn(t testing.TB) {
	disk := disktest.New()
	open := func(app Application) (*Store, error) {
		j, err := journal.OpenOn(disk, journal.Options{})
		require.NoError(t, err)
		return newStore(j, app, keep.Options{Least: 1})
	}
	s, app := reopened(t, open)
	require.NoError(t, s.locate(t.Context(), placeOf(1)))
	log(t, s, app, 1)
	require.NotEmpty(t, s.keeper.Compact())
	require.NoError(t, s.Close())
	s, _ = reopened(t, open)
	require.NotEmpty(t, s.keeper.Compact())
	require.NoError(t, s.Close())
}

func TestAStoreCountsOnAfterAStart(t *testing.T) { countsOn(t) }

// moody is an application that cannot make a snapshot until good attempts later.
type moody struct {
	*words
	fails    int
	attempts int
}

var errMood = errors.New("not now")

func (m *moody) Save(w io.Writer) error {
	if m.attempts++; m.attempts <= m.fails {
		_, _ = io.WriteString(w, "a part")
		return errMood
	}
	return m.words.Save(w)
}

// unmade has an application fail to make snapshots: one in place of the log, which goes on
// without it, and one of a state that replaces that on the disk, which waits for it.
func unmade(t testing.TB) {
	disk, app := disktest.New(), &moody{&words{}, 3, 0}
	j, err := journal.OpenOn(disk, journal.Options{Segment: 1 << 10})
	require.NoError(t, err)
	s, err := newStore(j, app, keep.Options{Least: 400})
	require.NoError(t, err)
	s.retry = time.Microsecond
	app.fails = 0
	require.NoError(t, s.locate(t.Context(), placeOf(1)))
	s.take()
	app.fails = 3
	for n := range uint64(100) {
		d := broadcast.Delivery{ID: messageID(n + 1), Position: n + 1, Payload: fmt.Appendf(nil, "w%d", n)}
		require.NoError(t, s.apply(t.Context(), &d, replica.Point{View: placeOf(1).View, Position: n + 1}))
		app.Apply(d)
		require.NoError(t, s.compact(t.Context()), "the log has everything")
		if n == 12 {
			require.Equal(t, 2, app.attempts, "further ones come after further operations")
		}
	}
	number, r, err := j.Snapshot()
	require.NoError(t, err)
	require.NotZero(t, number, "it was made later")
	require.NoError(t, r.Close())
	require.Equal(t, 3, refusals(t, s))

	app.fails, app.attempts = 8, 0
	app.list = []string{"another", "state"}
	s.dislocate()
	require.NoError(t, s.locate(t.Context(), placeOf(2)))
	require.Equal(t, 8, refusals(t, s))
	require.NoError(t, s.Close())
	found := &words{}
	require.NoError(t, storeOn(t, disktest.Of(disk.Files()), found).Close())
	require.Equal(t, app.list, found.list)
}

// refusals returns how many events said that the application could not make a snapshot.
func refusals(t testing.TB, s *Store) (n int) {
	_, _, events := s.take()
	for _, e := range events {
		require.Equal(t, replica.EventRefused, e.Kind)
		require.ErrorIs(t, e.Err, errMood)
		n++
	}
	return n
}

// An application may fail to make a snapshot for its Storage as it may for another member.
func TestASnapshotThatCannotBeMadeIsTriedAgain(t *testing.T) { unmade(t) }

// An application is asked again after a second, and eventually once a minute.
func TestAnApplicationIsAskedEverMoreSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, err := journal.OpenOn(disktest.New(), journal.Options{Segment: 1 << 10})
		require.NoError(t, err)
		s, err := newStore(j, &moody{&words{}, 8, 0}, keep.Options{})
		require.NoError(t, err)
		began := time.Now()
		s.dislocate()
		require.NoError(t, s.locate(t.Context(), placeOf(1)))
		require.Equal(t, (1+2+4+8+16+32+60+60)*time.Second, time.Since(began))
		require.NoError(t, s.Close())
	})
}
