package journal_test

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/journal"
	"github.com/failaware/failaware/internal/journal/disktest"
	"github.com/failaware/failaware/internal/race"
)

// flaky is a disk of which one call fails that changes something, and those after it succeed.
type flaky struct {
	*disktest.Disk
	left  int // such calls before it; negative: it has failed
	fault error
	open  int // files that are open
}

// fails reports the fault of a call, which may be for lack of room or not.
func (d *flaky) fails(room bool) error {
	if d.left--; d.left == -1 && (room || !errors.Is(d.fault, journal.ErrFull)) {
		return d.fault
	}
	return nil
}

// either does something unless the call fails.
func (d *flaky) either(room bool, do func() error) error {
	if err := d.fails(room); err != nil {
		return err
	}
	return do()
}

// The methods implement [journal.Disk] and [journal.File].

func (d *flaky) Create(name string) (f journal.File, err error) {
	err = d.either(true, func() error { f, err = d.Disk.Create(name); return err })
	return d.opened(f, err)
}

func (d *flaky) Open(name string) (journal.File, error) {
	return d.opened(d.Disk.Open(name))
}

func (d *flaky) opened(f journal.File, err error) (journal.File, error) {
	if err == nil {
		d.open++
	}
	return flakyFile{f, d}, err
}

func (d *flaky) Rename(from, to string) error {
	return d.either(true, func() error { return d.Disk.Rename(from, to) })
}

func (d *flaky) Remove(name string) error {
	return d.either(false, func() error { return d.Disk.Remove(name) })
}

func (d *flaky) Sync() error { return d.either(false, d.Disk.Sync) }

type flakyFile struct {
	journal.File
	disk *flaky
}

// WriteAt writes a half if it fails.
func (f flakyFile) WriteAt(b []byte, at int64) (int, error) {
	if err := f.disk.fails(true); err != nil {
		n, _ := f.File.WriteAt(b[:len(b)/2], at)
		return n, err
	}
	return f.File.WriteAt(b, at)
}

func (f flakyFile) Truncate(size int64) error {
	return f.disk.either(false, func() error { return f.File.Truncate(size) })
}

func (f flakyFile) Allocate(size int64) error {
	return f.disk.either(true, func() error { return f.File.Allocate(size) })
}

func (f flakyFile) Sync() error {
	if err := f.disk.fails(false); err != nil {
		f.disk.FailSync(err)
		defer f.disk.FailSync(nil)
	}
	return f.File.Sync()
}

func (f flakyFile) Close() error {
	f.disk.open--
	return f.File.Close()
}

// flakyUser keeps records on a flaky disk: after a fault it opens the journal again, and without
// room it tries again.
type flakyUser struct {
	t    testing.TB
	disk *flaky
	j    *journal.Journal
	all  []string // on the disk, as was reported
}

var flakyOptions = journal.Options{Segment: 400, ID: 1}

// open opens the journal, which has all that was reported, and perhaps what was being written.
func (u *flakyUser) open(maybe ...string) {
	var err error
	if u.j, err = journal.OpenOn(u.disk, flakyOptions); err != nil {
		require.ErrorIs(u.t, err, u.disk.fault)
		require.Zero(u.t, u.disk.open, "files that stay open after a failed start")
		u.j, err = journal.OpenOn(u.disk, flakyOptions)
	}
	require.NoError(u.t, err, "after a call that failed once")
	got, err := content(u.j)
	require.NoError(u.t, err)
	if len(got) > len(u.all) {
		u.all = append(u.all, maybe...)
	}
	require.Equal(u.t, u.all, got)
}

// try does something until it has been done, or has failed for good.
func (u *flakyUser) try(do func() error) (done bool) {
	err := do()
	if errors.Is(err, journal.ErrFull) {
		err = do()
	}
	if err != nil {
		require.ErrorIs(u.t, err, u.disk.fault)
		_ = u.j.Close()
		require.Zero(u.t, u.disk.open, "files that stay open behind a closed journal")
	}
	return err == nil
}

// snapshot writes a snapshot, unless there is one of all records.
func (u *flakyUser) snapshot() error {
	number, r, err := u.j.Snapshot()
	if err != nil {
		return err
	}
	if r != nil {
		require.NoError(u.t, r.Close())
	}
	if number == uint64(len(u.all)) {
		return nil
	}
	return writeSnapshot(u.j, u.all)
}

// killed ends the process after so many calls in which it writes a snapshot and a record, or before
// the record is flushed. The next process opens the journal.
func (u *flakyUser) killed(after int, unflushed bool, record string) {
	if unflushed {
		u.disk.FailSync(disktest.ErrPower)
	} else {
		u.disk.FailAfter(after)
		_ = u.snapshot()
	}
	var b journal.Batch
	b.Add([]byte(record))
	if u.j.Append(&b) == nil {
		u.all = append(u.all, record)
	}
	u.disk.FailAfter(-1)
	u.disk.FailSync(nil)
	u.disk.open = 0 // the system has closed the files of the process
	u.open(record)
}

// survives has the power fail.
func (u *flakyUser) survives() {
	for seed := range uint64(3) {
		j, err := journal.OpenOn(u.disk.Survivor(rand.New(rand.NewPCG(seed, 0))), flakyOptions)
		require.NoError(u.t, err)
		got, err := content(j)
		require.NoError(u.t, err)
		require.Equal(u.t, u.all, got)
	}
}

// beforeFlush is the round in which the process is killed before it flushes a record. In the
// rounds before, that is at each call of a snapshot.
const beforeFlush = 3

// play keeps records, and is killed behind every fourth of them.
func (u *flakyUser) play(round int) {
	u.open()
	for step := range 16 {
		record := fmt.Sprintf("%d %s\n", step, strings.Repeat("x", 80))
		var b journal.Batch
		b.Add([]byte(record))
		if u.try(func() error { return u.j.Append(&b) }) {
			u.all = append(u.all, record)
		} else {
			u.open(record)
		}
		if step%3 == 0 {
			u.j.Mark()
		}
		switch {
		case step%4 == 3:
			u.killed(round*4+step/4, round == beforeFlush, fmt.Sprintf("killed %d\n", step))
		case step%5 == 4 && !u.try(u.snapshot):
			u.open()
		}
		u.survives()
	}
}

// eachCallFails has each call that changes something fail once in rounds, also those of a start.
func eachCallFails(t testing.TB, rounds ...int) {
	for _, fault := range []error{errors.New("input/output error"), journal.ErrFull} {
		for _, round := range rounds {
			calls := 0
			for left := -1; left < 0; calls++ {
				u := &flakyUser{t: t, disk: &flaky{Disk: disktest.New(), left: calls, fault: fault}}
				u.play(round)
				_ = u.j.Close()
				require.Zero(t, u.disk.open, "files that stay open at the end")
				left = u.disk.left
			}
			require.Greater(t, calls, 50)
		}
	}
}

func oneCallFails(t testing.TB)    { eachCallFails(t, 0) }
func oneFailsAtStart(t testing.TB) { eachCallFails(t, beforeFlush) }

// fullAtStart opens a journal whose last batch is not known to be flushed, on a disk without
// room. What it then has is on the disk, and it has what was reported, or it is not opened.
// (Campaign state-change-forced, seed 348.)
func fullAtStart(t testing.TB) {
	const long = 2000 // more than a sector
	o := journal.Options{Segment: 1 << 13}
	for _, fault := range []error{nil, errors.New("input/output error")} {
		refused, opened := 0, 0
		for room := 0; room <= 2*long; room += 100 {
			d := disktest.New()
			j, err := journal.OpenOn(d, o)
			require.NoError(t, err)
			require.NoError(t, appendOne(j, 1, 30))
			d.FailSync(fault)
			require.ErrorIs(t, appendOne(j, 2, long), fault)
			reported := j.Last()
			if fault == nil {
				d = disktest.Of(d.Files()) // the process was killed
			} else {
				_ = j.Close() // which writes nothing any more
				d.FailSync(nil)
			}
			d.SetRoom(room)
			j, err = journal.OpenOn(d, o)
			if err != nil {
				require.ErrorIs(t, err, journal.ErrFull)
				refused++
				continue
			}
			opened++
			last := j.Last()
			require.GreaterOrEqual(t, last, reported, "room for %d bytes", room)
			for seed := range uint64(3) {
				j, err := journal.OpenOn(d.Survivor(rand.New(rand.NewPCG(seed, 0))), o)
				require.NoError(t, err)
				require.GreaterOrEqual(t, j.Last(), last, "room for %d bytes", room)
			}
		}
		require.Positive(t, refused)
		require.Positive(t, opened)
	}
}

// Nothing is to be written again after a Close but the mark that it leaves.
func TestAJournalThatWasClosedOpensOnAFullDisk(t *testing.T) {
	d, o := disktest.New(), journal.Options{Segment: 1 << 13}
	for n := range 4 { // records; the first journal has none
		d.SetRoom(-1)
		j, err := journal.OpenOn(d, o)
		require.NoError(t, err)
		if n > 0 {
			require.NoError(t, appendOne(j, n, 30))
		}
		require.NoError(t, j.Close())
		d.SetRoom(0)
		j, err = journal.OpenOn(d, o)
		require.NoError(t, err)
		require.EqualValues(t, n, j.Last())
		d.SetRoom(-1)
		require.NoError(t, j.Close())
	}
}

func TestAFullDiskProvesNothing(t *testing.T) { fullAtStart(t) }

// A call that fails once costs nothing that was reported, whatever it was for.
func TestOneFailedCallLosesNothing(t *testing.T) {
	oneCallFails(t)
	oneFailsAtStart(t)
	if !testing.Short() && !race.Enabled {
		eachCallFails(t, 1, 2)
	}
}

// A segment for which there was no room leaves all room to snapshots, and to others.
func TestASegmentThatCameToNothingTakesNoRoom(t *testing.T) {
	d := disktest.New()
	_, err := journal.OpenOn(unallocated{d}, journal.Options{Segment: 400})
	require.ErrorIs(t, err, journal.ErrFull)
	require.Empty(t, d.Files())
	d, j := nearItsEnd(t, journal.Options{Segment: 400})
	names, err := d.List()
	require.NoError(t, err)
	d.SetRoom(0)
	require.ErrorIs(t, appendOne(j, 2, 200), journal.ErrFull)
	left, err := d.List()
	require.NoError(t, err)
	require.ElementsMatch(t, names, left)
}

// stuck is a disk from which nothing can be removed while there is an error.
type stuck struct {
	*disktest.Disk
	err error
}

// Remove implements [journal.Disk].
func (d *stuck) Remove(name string) error {
	if d.err != nil {
		return d.err
	}
	return d.Disk.Remove(name)
}

// uselessStay makes snapshots on a disk from which nothing can be removed. They count, and what is
// left of what they stand for goes with a later snapshot, or with the next start.
func uselessStay(t testing.TB) {
	for _, why := range []error{fs.ErrPermission, fs.ErrNotExist} {
		for _, restart := range []bool{false, true} {
			d, o := &stuck{Disk: disktest.New()}, journal.Options{Segment: 1 << 10}
			j, err := journal.OpenOn(d, o)
			require.NoError(t, err)
			snapshot := func() {
				for range 20 {
					require.NoError(t, appendOne(j, int(j.Last())+1, 100))
				}
				s, err := j.NewSnapshot(j.Last())
				require.NoError(t, err)
				require.NoError(t, s.Commit())
			}
			d.err = why
			snapshot()
			snapshot()
			require.Greater(t, len(d.Files()), 4)
			d.err = nil
			if restart {
				require.NoError(t, j.Close())
				j, err = journal.OpenOn(d, o)
				require.NoError(t, err)
				require.Len(t, d.Files(), 2)
			}
			snapshot()
			if why != fs.ErrNotExist || restart { // what is gone is not removed again
				require.Len(t, d.Files(), 2)
			}
			require.EqualValues(t, 60, j.Last())
			require.NoError(t, j.Close())
		}
	}
}

func TestAFileThatCannotBeRemovedIsNoFault(t *testing.T) { uselessStay(t) }

// cramped is a disk that has no room for another name.
type cramped struct{ *disktest.Disk }

// Rename implements [journal.Disk].
func (d cramped) Rename(string, string) error { return journal.ErrFull }

// crampedSnapshots makes a snapshot for whose name there is no room. Nothing of it is left, or it
// would itself be why there is none.
func crampedSnapshots(t testing.TB) {
	d := disktest.New()
	j, err := journal.OpenOn(d, journal.Options{})
	require.NoError(t, err)
	require.NoError(t, appendOne(j, 1, 100))
	require.NoError(t, j.Close())
	before := d.Files()
	j, err = journal.OpenOn(cramped{d}, journal.Options{})
	require.NoError(t, err)
	s, err := j.NewSnapshot(1)
	require.NoError(t, err)
	require.ErrorIs(t, s.Commit(), journal.ErrFull)
	require.Equal(t, slices.Sorted(maps.Keys(before)), slices.Sorted(maps.Keys(d.Files())))
}

func TestASnapshotWithoutANameLeavesNothing(t *testing.T) { crampedSnapshots(t) }

// Where only closed files can be renamed, a journal closes them first.
func TestClosedFilesAreRenamed(t *testing.T) {
	defer journal.RenameClosed()()
	_, cuts := keepsWithoutPower(t, 30)
	require.Positive(t, cuts)
	oneCallFails(t)
}
