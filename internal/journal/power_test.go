package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/journal"
	"github.com/failaware/failaware/internal/journal/disktest"
	"github.com/failaware/failaware/internal/race"
)

// content returns all records of a journal: those of its snapshot, whose content in
// these tests is the records one after the other, and those after it.
func content(j *journal.Journal) (out []string, err error) {
	number, r, err := j.Snapshot()
	if err != nil {
		return nil, err
	}
	if r != nil {
		b, err := io.ReadAll(r)
		if err = errors.Join(err, r.Close()); err != nil {
			return nil, err
		}
		for _, s := range bytes.SplitAfter(b, []byte("\n")) {
			if len(s) > 0 {
				out = append(out, string(s))
			}
		}
		if uint64(len(out)) != number {
			return nil, fmt.Errorf("the snapshot of %d records has %d", number, len(out))
		}
	}
	err = j.Replay(func(number uint64, record []byte) error {
		if number != uint64(len(out)+1) {
			return fmt.Errorf("record %d is number %d", len(out)+1, number)
		}
		out = append(out, string(record))
		return nil
	})
	return out, err
}

// writeSnapshot makes a snapshot of the first records.
func writeSnapshot(j *journal.Journal, records []string) error {
	s, err := j.NewSnapshot(uint64(len(records)))
	if err != nil {
		return err
	}
	for _, r := range records {
		if _, err := s.Write([]byte(r)); err != nil {
			return err
		}
	}
	return s.Commit()
}

// user is a program that keeps its records in a journal. It is killed, or its machine loses
// its power, again and again.
type user struct {
	r       *rand.Rand
	disk    *disktest.Disk
	written []string // in batches that were begun
	ends    map[int]bool
	sure    int // records that were reported as durable
	size    int64
	losses  int
	cuts    int
}

func newUser(seed uint64) *user {
	r := rand.New(rand.NewPCG(seed, 14))
	return &user{r: r, disk: disktest.New(), ends: map[int]bool{0: true}, size: 512 << r.IntN(5)}
}

// life opens the journal, checks it, and uses it until the power fails.
func (u *user) life() error {
	u.disk.FailAfter(u.r.IntN(60))
	j, err := journal.OpenOn(u.disk, journal.Options{Segment: u.size})
	if errors.Is(err, disktest.ErrPower) {
		return nil
	} else if err != nil {
		return fmt.Errorf("open: %w", err)
	}
	if j.Cut() > 0 {
		u.cuts++
	}
	if err := u.check(j); err != nil {
		return err
	}
	for {
		if err := u.step(j); errors.Is(err, disktest.ErrPower) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// check requires that the journal has all records that are sure, in their order, and of
// the last batches all or nothing.
func (u *user) check(j *journal.Journal) error {
	got, err := content(j)
	switch {
	case errors.Is(err, disktest.ErrPower):
		return nil
	case err != nil:
		return err
	case len(got) < u.sure || len(got) > len(u.written) || !u.ends[len(got)]:
		return fmt.Errorf("there are %d records, of %d that were written, and %d that were durable", len(got), len(u.written), u.sure)
	}
	for i := range got {
		if got[i] != u.written[i] {
			return fmt.Errorf("record %d is %q and not %q", i+1, got[i], u.written[i])
		}
	}
	u.written, u.sure = u.written[:len(got)], len(got)
	return nil
}

func (u *user) step(j *journal.Journal) error {
	switch u.r.IntN(12) {
	case 0:
		j.Mark()
		return nil
	case 1:
		if u.sure == 0 {
			return nil
		}
		err := writeSnapshot(j, u.written[:u.sure])
		if err != nil && !errors.Is(err, disktest.ErrPower) {
			return nil // there is nothing new
		}
		return err
	case 2:
		u.disk.SetRoom(u.r.IntN(200))
		defer u.disk.SetRoom(-1)
	}
	var b journal.Batch
	for range u.r.IntN(5) + 1 {
		size := u.r.IntN(40)
		if u.r.IntN(10) == 0 {
			size = u.r.IntN(3000)
		}
		record := fmt.Sprintf("%d %x\n", len(u.written)+1, make([]byte, size/2))
		if u.r.IntN(4) == 0 {
			record = fmt.Sprintf("%d %d\n", len(u.written)+1, u.r.Uint64())
		}
		b.Add([]byte(record))
		u.written = append(u.written, record)
	}
	err := j.Append(&b)
	for errors.Is(err, journal.ErrFull) {
		u.disk.SetRoom(u.r.IntN(10000))
		err = j.Append(&b)
	}
	u.ends[len(u.written)] = true
	if err == nil {
		u.sure = len(u.written)
	}
	return err
}

// lives plays a program and its ends.
func lives(seed uint64) (*user, error) {
	u := newUser(seed)
	for range 6 {
		for n := range u.ends { // of batches that never were
			if n > len(u.written) {
				delete(u.ends, n)
			}
		}
		if err := u.life(); err != nil {
			return u, fmt.Errorf("seed %d, after %d ends: %w", seed, u.losses, err)
		}
		if u.losses++; u.r.IntN(3) > 0 { // otherwise only the process has ended
			u.disk = u.disk.Survivor(u.r)
		}
	}
	return u, nil
}

// keepsWithoutPower plays machines that lose their power.
func keepsWithoutPower(t testing.TB, seeds uint64) (records, cuts int) {
	for seed := range seeds {
		u, err := lives(seed)
		require.NoError(t, err)
		records, cuts = records+u.sure, cuts+u.cuts
	}
	return records, cuts
}

func TestNothingDurableIsLostWithThePower(t *testing.T) {
	seeds := uint64(1500)
	if testing.Short() || race.Enabled {
		seeds = 200
	}
	records, cuts := keepsWithoutPower(t, seeds)
	require.Greater(t, records, int(seeds)*10)
	require.Greater(t, cuts, int(seeds)/4)
}

// snapshotsAnywhere makes a snapshot at every record, so also at the last but one of a
// file, and requires that all records are still there, and no file without one that the
// snapshot does not stand for, unless it is the last. If the process ends before the others
// are removed, the next one removes them.
func snapshotsAnywhere(t testing.TB) {
	var all []string
	for n := range 30 {
		all = append(all, fmt.Sprintf("%d\n", n))
	}
	for n := 1; n <= len(all); n++ {
		d := disktest.New()
		j, err := journal.OpenOn(d, journal.Options{Segment: 256})
		require.NoError(t, err)
		for _, r := range all {
			var b journal.Batch
			b.Add([]byte(r))
			require.NoError(t, j.Append(&b))
		}
		unremoved := maps.Clone(d.Files())
		require.NoError(t, writeSnapshot(j, all[:n]))
		left := files(d, "log-")
		if len(left) > 1 {
			require.Greater(t, left[1], fmt.Sprintf("log-%016x", n+1), "a snapshot of %d", n)
		}
		require.NoError(t, j.Close())
		maps.Copy(unremoved, d.Files())
		d = disktest.Of(unremoved)
		j, err = journal.OpenOn(d, journal.Options{Segment: 256})
		require.NoError(t, err, "a snapshot of %d", n)
		require.Equal(t, left, files(d, "log-"), "a snapshot of %d", n)
		got, err := content(j)
		require.NoError(t, err)
		require.Equal(t, all, got)
	}
}

func TestASnapshotRemovesNoOtherRecords(t *testing.T) { snapshotsAnywhere(t) }

// snapshotsOfRecords asks for snapshots of records that are not on the disk, and of no more
// than the snapshot has.
func snapshotsOfRecords(t testing.TB) {
	j := openOn(t, disktest.New())
	require.NoError(t, appendOne(j, 1, 9))
	require.NoError(t, appendOne(j, 2, 9))
	require.NoError(t, writeSnapshot(j, make([]string, 1)))
	for number, fits := range []bool{false, false, true, false} {
		s, err := j.NewSnapshot(uint64(number))
		if !fits {
			require.ErrorContains(t, err, "the disk has 2, and a snapshot of 1", "%d", number)
			continue
		}
		require.NoError(t, err)
		s.Abandon()
	}
}

func TestASnapshotIsOfRecordsOnTheDisk(t *testing.T) { snapshotsOfRecords(t) }
