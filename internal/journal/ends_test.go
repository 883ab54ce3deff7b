package journal_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/journal"
	"github.com/failaware/failaware/internal/journal/disktest"
)

// appendOne appends a batch with a record of some bytes.
func appendOne(j *journal.Journal, number, size int) error {
	var b journal.Batch
	b.Add([]byte(strings.Repeat(fmt.Sprint(number%10), size)))
	return j.Append(&b)
}

// nearItsEnd returns a journal whose segment has room for a batch or two.
func nearItsEnd(t testing.TB, o journal.Options) (*disktest.Disk, *journal.Journal) {
	d := disktest.New()
	j, err := journal.OpenOn(d, o)
	require.NoError(t, err)
	for n := range 2 {
		require.NoError(t, appendOne(j, n, 90))
	}
	return d, j
}

// files returns the names of files that begin with a prefix, in their order.
func files(d *disktest.Disk, prefix string) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(d.Files())) {
		if strings.HasPrefix(name, prefix) {
			names = append(names, name)
		}
	}
	return names
}

// lastIsMissed demands that a journal is refused without its last segment.
func lastIsMissed(t testing.TB, d *disktest.Disk, o journal.Options, why string) {
	segments := files(d, "log-")
	last := segments[len(segments)-1]
	left := maps.Clone(d.Files())
	delete(left, last)
	_, err := journal.OpenOn(disktest.Of(left), o)
	missing, ok := errors.AsType[*journal.MissingError](err)
	require.True(t, ok, "%s: without %s: %v", why, last, err)
	require.ErrorContains(t, missing, last, why)
}

// endsOnFullDisks has the disk become full at every byte while another segment begins.
func endsOnFullDisks(t testing.TB) {
	o := journal.Options{Segment: 400}
	for room := range 700 {
		d, j := nearItsEnd(t, o)
		d.SetRoom(room)
		for n := 2; n < 5; n++ {
			err := appendOne(j, n, 90)
			if err != nil {
				require.ErrorIs(t, err, journal.ErrFull)
				d.SetRoom(-1)
				require.NoError(t, appendOne(j, n, 90), "room for %d bytes", room)
			}
			if segments := files(d, "log-"); len(segments) > 1 {
				lastIsMissed(t, d, o, fmt.Sprintf("room for %d bytes", room))
			}
		}
		require.NoError(t, j.Close())
	}
}

// A segment that another one follows says so, also if the disk was full meanwhile.
func TestAFullDiskLosesNoEnd(t *testing.T) { endsOnFullDisks(t) }

// endsAfterCrashes has the process end at every call while another segment begins.
func endsAfterCrashes(t testing.TB) {
	o := journal.Options{Segment: 400}
	open := 0
	for calls := range 40 {
		d, j := nearItsEnd(t, o)
		d.FailAfter(calls)
		for n := 2; n < 5; n++ {
			if appendOne(j, n, 90) != nil {
				break
			}
		}
		d = disktest.Of(d.Files())
		j, err := journal.OpenOn(d, o)
		require.NoError(t, err)
		if len(files(d, "log-")) > 1 {
			open++
			lastIsMissed(t, d, o, fmt.Sprintf("the process ended after %d calls", calls))
		}
		require.NoError(t, j.Close())
	}
	require.Positive(t, open)
}

// An end that a process did not come to write is written by the next one.
func TestACrashLosesNoEnd(t *testing.T) { endsAfterCrashes(t) }

// withoutEnds calls f with journals whose disk is full, and whose last process may not have come
// to write an end.
func withoutEnds(t testing.TB, o journal.Options, f func(calls int, d *disktest.Disk, j *journal.Journal)) {
	for calls := range 40 {
		d, j := nearItsEnd(t, o)
		d.FailAfter(calls)
		for n := 2; n < 5 && appendOne(j, n, 90) == nil; n++ {
		}
		if d = disktest.Of(d.Files()); len(files(d, "log-")) < 2 {
			continue
		}
		d.SetRoom(0)
		j, err := journal.OpenOn(d, o)
		if errors.Is(err, journal.ErrFull) { // the last batch is to be written again
			d.SetRoom(-1)
			j, err = journal.OpenOn(d, o)
			d.SetRoom(0)
		}
		require.NoError(t, err)
		f(calls, d, j)
	}
}

// endsOnceThereIsRoom opens journals whose disk is full and whose last process did not come to
// write an end. Nothing is appended.
func endsOnceThereIsRoom(t testing.TB) {
	o := journal.Options{Segment: 400}
	met := 0
	withoutEnds(t, o, func(calls int, d *disktest.Disk, j *journal.Journal) {
		var full []error
		q := journal.NewQueue(j, journal.WriterOptions{OnFull: func(err error) { full = append(full, err) }})
		if !q.Take() {
			require.NoError(t, j.Close())
			return // the end was there
		}
		met++
		for range 2 {
			require.ErrorIs(t, q.Write(), journal.ErrFull)
			require.Len(t, full, 1, "a disk that stays full is told once")
		}
		d.SetRoom(-1)
		require.NoError(t, q.Write())
		require.NoError(t, full[1])
		require.False(t, q.Take(), "once is enough")
		lastIsMissed(t, d, o, fmt.Sprintf("the process ended after %d calls", calls))
		require.NoError(t, j.Close())
	})
	require.Positive(t, met)
}

// A writer that closes while there is no room for an end has written all records. One that was
// handed another one has not.
func TestAnEndIsNoRecord(t *testing.T) {
	full, met := false, 0
	for _, another := range []bool{false, true} {
		withoutEnds(t, journal.Options{Segment: 400}, func(_ int, _ *disktest.Disk, j *journal.Journal) {
			full = false
			told := make(chan struct{})
			w := journal.NewWriter(j, journal.WriterOptions{OnFull: func(err error) { full = err != nil; close(told) }})
			if another {
				_, err := w.Append(t.Context(), []byte("another"))
				require.NoError(t, err)
				<-told
				require.ErrorIs(t, w.Close(), journal.ErrFull)
				return
			}
			require.NoError(t, w.Close())
			if full {
				met++
			}
		})
	}
	require.Positive(t, met)
}

// An end for which the disk had no room is written also if nothing is appended.
func TestAFullDiskOnlyDefersAnEnd(t *testing.T) { endsOnceThereIsRoom(t) }

// endsWithoutPower has the power fail once a batch behind the end was reported.
func endsWithoutPower(t testing.TB) {
	o := journal.Options{Segment: 400}
	for seed := range uint64(20) {
		d, j := nearItsEnd(t, o)
		for n := 2; n < 5; n++ {
			require.NoError(t, appendOne(j, n, 90))
			if left := d.Survivor(rand.New(rand.NewPCG(seed, uint64(n)))); len(files(left, "log-")) > 1 {
				lastIsMissed(t, left, o, fmt.Sprintf("the power fails after batch %d, seed %d", n, seed))
			}
		}
		require.NoError(t, j.Close())
	}
}

// The end of a segment is on the disk before anything behind it is reported.
func TestAPowerCutLosesNoEnd(t *testing.T) { endsWithoutPower(t) }

// damageRemovesNothing damages a snapshot whose process ended before it had removed what the
// snapshot stands for.
func damageRemovesNothing(t testing.TB) {
	o := journal.Options{Segment: 200}
	met := 0
	for _, former := range []bool{false, true} { // there is an earlier snapshot
		for calls := range 40 {
			d := disktest.New()
			j, err := journal.OpenOn(d, o)
			require.NoError(t, err)
			var all []string
			write := func() {
				for range 3 {
					all = append(all, strings.Repeat("a", 90)+"\n")
					var b journal.Batch
					b.Add([]byte(all[len(all)-1]))
					require.NoError(t, j.Append(&b))
				}
			}
			if write(); former {
				require.NoError(t, writeSnapshot(j, all))
				write()
			}
			d.FailAfter(calls)
			_ = writeSnapshot(j, all)
			left := d.Files()
			snapshots := files(d, "snapshot-")
			name := fmt.Sprintf("snapshot-%016x", len(all))
			if !slices.Contains(snapshots, name) || len(files(d, "log-"))+len(snapshots) < 3 {
				continue
			}
			met++
			left[name][len(left[name])/2] ^= 1
			damaged := disktest.Of(left)
			_, err = journal.OpenOn(damaged, o)
			require.ErrorContains(t, err, name)
			require.Equal(t, files(d, ""), files(damaged, ""), "nothing is removed")
			delete(left, name)
			if former && !slices.Contains(snapshots, fmt.Sprintf("snapshot-%016x", 3)) {
				continue
			}
			if whole, err := journal.OpenOn(disktest.Of(left), o); err == nil {
				got, err := content(whole)
				require.NoError(t, err)
				require.Equal(t, all, got, "without the snapshot, what was there before is whole")
			}
		}
	}
	require.Positive(t, met)
}

// What a snapshot stands for is removed once all of the snapshot is known to be sound.
func TestADamagedSnapshotRemovesNothing(t *testing.T) { damageRemovesNothing(t) }

// unflushedNames ends a process at every call while it writes a snapshot, and loses the power
// at every call of the next one that opens the journal.
func unflushedNames(t testing.TB) {
	o := journal.Options{Segment: 200}
	for calls := range 25 {
		for power := range 25 {
			for seed := range uint64(6) {
				d := disktest.New()
				j, err := journal.OpenOn(d, o)
				require.NoError(t, err)
				var all []string
				for n := range 6 {
					all = append(all, strings.Repeat("a", 90)+"\n")
					var b journal.Batch
					b.Add([]byte(all[n]))
					require.NoError(t, j.Append(&b))
					if n == 2 {
						require.NoError(t, writeSnapshot(j, all))
					}
				}
				d.FailAfter(calls)
				_ = writeSnapshot(j, all)
				d.FailAfter(power)
				_, _ = journal.OpenOn(d, o)
				j, err = journal.OpenOn(d.Survivor(rand.New(rand.NewPCG(seed, 0))), o)
				require.NoError(t, err, "%d calls, then %d", calls, power)
				got, err := content(j)
				require.NoError(t, err)
				require.Equal(t, all, got)
			}
		}
	}
}

// Nothing is removed because of a name that only the memory of the system has.
func TestNamesAreFlushedBeforeTheyCount(t *testing.T) { unflushedNames(t) }

// oneFailedFlush has each flush fail once, so also that of the end of a segment, and requires
// that the call tells which made it, and that the journal accepts nothing more.
func oneFailedFlush(t testing.TB) {
	broken := errors.New("input/output error")
	o := journal.Options{Segment: 400}
	failed := 0
	for flush := range 12 {
		d, j := nearItsEnd(t, o)
		d.BeforeSync(func() {
			if d.FailSync(nil); flush == 0 {
				d.FailSync(broken)
				failed++
			}
			flush--
		})
		for n := 2; n < 5; n++ {
			before := failed
			err := appendOne(j, n, 90)
			if failed > before {
				require.ErrorIs(t, err, broken)
				require.ErrorIs(t, appendOne(j, n, 90), broken)
				break
			}
			require.NoError(t, err)
		}
		_ = j.Close()
	}
	require.Greater(t, failed, 4)
}

// A flush that fails once is told, whatever it was for.
func TestOneFailedFlushIsTold(t *testing.T) { oneFailedFlush(t) }

// unallocated is a disk that has no room to allocate, as one that is full.
type unallocated struct{ *disktest.Disk }

// Create implements [journal.Disk].
func (d unallocated) Create(name string) (journal.File, error) {
	f, err := d.Disk.Create(name)
	return unallocatedFile{f}, err
}

// Open implements [journal.Disk].
func (d unallocated) Open(name string) (journal.File, error) {
	f, err := d.Disk.Open(name)
	return unallocatedFile{f}, err
}

type unallocatedFile struct{ journal.File }

// Allocate implements [journal.File].
func (unallocatedFile) Allocate(int64) error { return journal.ErrFull }

// opensOnFullDisks opens a journal on a disk that has no room for all of its segment.
func opensOnFullDisks(t testing.TB) {
	o := journal.Options{Segment: 400}
	d, j := nearItsEnd(t, o)
	want, err := content(j)
	require.NoError(t, err)
	require.NoError(t, j.Close())
	j, err = journal.OpenOn(unallocated{d}, o)
	require.NoError(t, err)
	got, err := content(j)
	require.NoError(t, err)
	require.Equal(t, want, got)
}

// A new journal needs room for its first segment, and says how much.
func TestANewJournalSaysHowMuchRoomItNeeds(t *testing.T) {
	_, err := journal.OpenOn(unallocated{disktest.New()}, journal.Options{Segment: 1 << 20})
	require.ErrorIs(t, err, journal.ErrFull)
	require.ErrorContains(t, err, "log-0000000000000001 needs 1048576 bytes: the disk is full")
}

func TestAJournalOpensOnAFullDisk(t *testing.T) { opensOnFullDisks(t) }

// leavesOtherFiles opens a journal among files of others, one of which is being replaced as
// files of the journal are, and files that a crash has left of the journal itself.
func leavesOtherFiles(t testing.TB) {
	own := []string{"log-0000000000000002.new", "snapshot-0000000000000001.new"}
	others := []string{"lock", "owner.new", "log-2.new", "notes-log-0000000000000002.new"}
	files := map[string][]byte{}
	for _, name := range slices.Concat(own, others) {
		files[name] = []byte(name)
	}
	d := disktest.Of(files)
	_, err := journal.OpenOn(d, journal.Options{Segment: 400})
	require.NoError(t, err)
	for _, name := range others {
		require.Contains(t, d.Files(), name)
	}
	for _, name := range own {
		require.NotContains(t, d.Files(), name)
	}
}

// A journal removes what a crash has left of its own files, and no other file.
func TestAJournalLeavesOtherFiles(t *testing.T) { leavesOtherFiles(t) }

// A snapshot that is not wanted, or for which there was no room, leaves all room to the log.
func TestASnapshotThatCameToNothingTakesNoRoom(t *testing.T) {
	d := disktest.New()
	j := openOn(t, d)
	require.NoError(t, appendOne(j, 1, 10))
	names, err := d.List()
	require.NoError(t, err)
	for _, room := range []int{-1, 100} {
		s, err := j.NewSnapshot(1)
		require.NoError(t, err)
		d.SetRoom(room)
		_, err = s.Write(make([]byte, 1<<20))
		require.Equal(t, room >= 0, errors.Is(err, journal.ErrFull))
		s.Abandon()
		left, err := d.List()
		require.NoError(t, err)
		require.ElementsMatch(t, names, left)
	}
}

// The end that a crash has left out is written as it would have been: it says that all before it
// was flushed.
func TestAnEndIsWrittenAsBefore(t *testing.T) {
	d := disktest.New()
	sample(t, d, 700, 36, 0)
	whole := d.Files()
	names := files(d, "log-")
	require.Greater(t, len(names), 2)
	cut := maps.Clone(whole)
	for _, name := range names[:len(names)-1] {
		b := whole[name]
		cut[name] = b[:len(b)-36] // the head of a batch without records
	}
	d = disktest.Of(cut)
	_, err := journal.OpenOn(d, journal.Options{Segment: 700})
	require.NoError(t, err)
	for _, name := range names[:len(names)-1] {
		require.Equal(t, whole[name], d.Files()[name])
	}
}
