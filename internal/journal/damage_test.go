package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/journal"
	"github.com/failaware/failaware/internal/journal/disktest"
)

// sample makes a journal of several files on a disk, and closes it. It returns the
// records.
func sample(t testing.TB, d *disktest.Disk, segment int64, records int, snapshotAt int) (want []string) {
	j, err := journal.OpenOn(d, journal.Options{Segment: segment})
	require.NoError(t, err)
	for len(want) < records {
		var b journal.Batch
		for range len(want)%3 + 1 {
			want = append(want, fmt.Sprintf("%d %s\n", len(want)+1, strings.Repeat("x", len(want)*7%90)))
			b.Add([]byte(want[len(want)-1]))
		}
		require.NoError(t, j.Append(&b))
		if len(want)%5 == 0 {
			j.Mark()
		}
		if snapshotAt > 0 && len(want) >= snapshotAt {
			require.NoError(t, writeSnapshot(j, want[:snapshotAt]))
			snapshotAt = 0
		}
	}
	require.NoError(t, j.Close())
	return want
}

// read opens a journal and returns its records.
func read(files map[string][]byte) ([]string, error) {
	j, err := journal.OpenOn(disktest.Of(files), journal.Options{Segment: 700})
	if err != nil {
		return nil, err
	}
	return content(j)
}

// names reports whether an error names a file of the disk as damaged or missing.
func names(err error) bool {
	d, damaged := errors.AsType[*journal.DamagedError](err)
	m, missing := errors.AsType[*journal.MissingError](err)
	return damaged && strings.HasPrefix(d.Path, "disk/") && d.Offset >= 0 || missing && strings.HasPrefix(m.Path, "disk/")
}

// changed returns files with a changed copy of one.
func changed(files map[string][]byte, name string, f func(b []byte) []byte) map[string][]byte {
	out := maps.Clone(files)
	out[name] = f(slices.Clone(files[name]))
	return out
}

// noDamageIsSilent changes files of a journal in one place after the other. Each time
// the journal is refused, or has all records and goes on.
func noDamageIsSilent(t testing.TB) {
	d := disktest.New()
	refused, whole := noneIsSilent(t, d, sample(t, d, 700, 36, 15))
	require.Greater(t, refused, whole, "most bytes count")
}

// noneIsSilent returns how often the journal on a disk was refused, and how often it was not.
func noneIsSilent(t testing.TB, d *disktest.Disk, want []string) (refused, whole int) {
	files := d.Files()
	check := func(what, name string, files map[string][]byte) {
		got, err := read(files)
		if err != nil {
			require.True(t, names(err), "%s: %v", what, err)
			require.True(t, disktest.Blames(err, name), "%s: %v", what, err)
			refused++
			return
		}
		require.Equal(t, want, got, what)
		j, err := journal.OpenOn(disktest.Of(files), journal.Options{Segment: 700})
		require.NoError(t, err, what)
		goesOn(t, j, slices.Clone(want))
		whole++
	}
	check("nothing", "", files)
	require.Equal(t, 1, whole)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		for i := range files[name] {
			bit := byte(1) << (i % 8)
			check(fmt.Sprintf("%s: bit %x of byte %d", name, bit, i), name, changed(files, name, func(b []byte) []byte {
				b[i] ^= bit
				return b
			}))
		}
		check("without "+name, name, changed(files, name, func([]byte) []byte { return nil }))
		lost := maps.Clone(files)
		delete(lost, name)
		check("no "+name, name, lost)
	}
	return refused, whole
}

// noneBehindSnapshots damages journals with a snapshot of all their records, whose process ended
// before it wrote anything else. The log must not end before the snapshot does: a record
// that took a number of the snapshot would not count.
func noneBehindSnapshots(t testing.TB) {
	for records := 1; records < 4; records++ {
		d := disktest.New()
		j, err := journal.OpenOn(d, journal.Options{Segment: 700})
		require.NoError(t, err)
		var all []string
		for n := range records {
			all = append(all, strings.Repeat(fmt.Sprint(n), 9)+"\n")
			var b journal.Batch
			b.Add([]byte(all[n]))
			require.NoError(t, j.Append(&b))
		}
		require.NoError(t, writeSnapshot(j, all))
		noneIsSilent(t, d, all)
	}
}

func TestNoDamageBehindASnapshotIsSilent(t *testing.T) { noneBehindSnapshots(t) }

// nothingFollowsSnapshots appends bytes to a snapshot.
func nothingFollowsSnapshots(t testing.TB) {
	d := disktest.New()
	sample(t, d, 700, 20, 20)
	for _, name := range files(d, "snapshot-") {
		_, err := read(changed(d.Files(), name, func(b []byte) []byte { return append(b, 0) }))
		require.True(t, names(err), "%v", err)
		require.True(t, disktest.Blames(err, name), "%v", err)
	}
}

func TestNothingFollowsASnapshot(t *testing.T) { nothingFollowsSnapshots(t) }

func TestNoDamageIsSilent(t *testing.T) { noDamageIsSilent(t) }

// The files of two journals with one beginning are not mixed.
func copiesAreNotMixed(t testing.TB) {
	d := disktest.New()
	sample(t, d, 1024, 20, 0)
	ours, theirs := disktest.Of(d.Files()), disktest.Of(d.Files())
	for i, d := range []*disktest.Disk{ours, theirs} {
		j, err := journal.OpenOn(d, journal.Options{Segment: 1024})
		require.NoError(t, err)
		for range 12 {
			var b journal.Batch
			b.Add(bytes.Repeat([]byte{byte('0' + i)}, 300))
			require.NoError(t, j.Append(&b))
		}
		require.NoError(t, j.Close())
	}
	mixed := 0
	for name, b := range theirs.Files() {
		if bytes.Equal(b, d.Files()[name]) || ours.Files()[name] == nil {
			continue
		}
		files := maps.Clone(ours.Files())
		if bytes.Equal(files[name], b) {
			continue
		}
		files[name] = b
		got, err := read(files)
		require.True(t, names(err), "%s: %v, %d records", name, err, len(got))
		mixed++
	}
	require.Greater(t, mixed, 2)
}

func TestCopiesAreNotMixed(t *testing.T) { copiesAreNotMixed(t) }

// sectors calls f with the places of all sectors that are used in a file.
func sectors(b []byte, f func(from, to int)) {
	for at := 0; at < len(bytes.TrimRight(b, "\x00")); at += 512 {
		f(at, min(at+512, len(b)))
	}
}

// A sector of zeros, or in the place of another, is noticed, unless it holds the very
// end of the journal with all that says that more had been there.
func TestLostSectorsAreNoticed(t *testing.T) {
	d := disktest.New()
	want := sample(t, d, 8192, 400, 100)
	files := d.Files()
	last := ""
	for name := range files {
		if strings.HasPrefix(name, "log-") {
			last = max(last, name)
		}
	}
	noticed := 0
	for _, name := range slices.Sorted(maps.Keys(files)) {
		used := len(bytes.TrimRight(files[name], "\x00"))
		sectors(files[name], func(from, to int) {
			got, err := read(changed(files, name, func(b []byte) []byte {
				clear(b[from:to])
				return b
			}))
			if name == last && to >= used && err == nil {
				require.Equal(t, want[:len(got)], got)
				return
			}
			require.True(t, names(err), "%s, %d: %v", name, from, err)
			noticed++
			sectors(files[name], func(other, end int) {
				if other <= from || end-other != to-from {
					return
				}
				got, err := read(changed(files, name, func(b []byte) []byte {
					swapped := slices.Clone(b)
					copy(swapped[from:to], b[other:end])
					copy(swapped[other:end], b[from:to])
					return swapped
				}))
				if name == last && end >= used && err == nil {
					require.Equal(t, want[:len(got)], got)
					return
				}
				require.True(t, names(err), "%s, %d and %d: %v, %d records", name, from, other, err, len(got))
			})
		})
	}
	require.Greater(t, noticed, 20)
}

// A journal that ends anywhere in its last file has all batches up to there.
func TestEveryTruncationIsCutAtABatch(t *testing.T) {
	d := disktest.New()
	want := sample(t, d, 1<<14, 60, 0)
	require.Len(t, d.Files(), 1)
	for name, b := range d.Files() {
		used, most := len(bytes.TrimRight(b, "\x00")), 0
		for end := range used + 1 {
			files := map[string][]byte{name: b[:end]}
			got, err := read(files)
			if end < 40 { // the header had been flushed before the file got its name
				require.True(t, names(err), "%d: %v", end, err)
				continue
			}
			require.NoError(t, err, end)
			require.GreaterOrEqual(t, len(got), most)
			require.Equal(t, want[:len(got)], append([]string{}, got...))
			most = len(got)
		}
		require.Equal(t, len(want), most)
	}
}

// cutsStay loses the mark between two batches with the power, and requires that the
// later batch is gone for good, although the next mark has the same bytes.
func cutsStay(t testing.TB) {
	d := disktest.New()
	j := openOn(t, d)
	add := func(record string) {
		var b journal.Batch
		b.Add([]byte(record))
		require.NoError(t, j.Append(&b))
	}
	const name, mark = "log-0000000000000001", 36
	add("first")
	before := len(bytes.TrimRight(d.Files()[name], "\x00"))
	before += -before & 3
	j.Mark()
	add("second")
	torn := disktest.Of(changed(d.Files(), name, func(b []byte) []byte {
		clear(b[before : before+mark])
		return b
	}))
	for range 3 {
		j = openOn(t, torn)
		got, err := content(j)
		require.NoError(t, err)
		require.Equal(t, []string{"first"}, got)
		j.Mark()
	}
}

func TestWhatWasCutStaysAway(t *testing.T) { cutsStay(t) }

// A batch that shows that those before it were flushed is found wherever its head lies.
func headsAreFound(t testing.TB) {
	for behind := 0; behind <= 40; behind += 4 { // bytes of the head in the first piece that is searched
		d := disktest.New()
		j, err := journal.OpenOn(d, journal.Options{Segment: 4 << 20})
		require.NoError(t, err)
		for _, size := range []int{1<<20 - 36 - 4 - behind, 9} { // behind a head and a length
			var b journal.Batch
			b.Add(bytes.Repeat([]byte("x"), size))
			require.NoError(t, j.Append(&b))
		}
		files := d.Files()
		for name := range files {
			_, err = read(changed(files, name, func(b []byte) []byte { b[100]++; return b }))
			require.True(t, names(err), "%d: %v", behind, err)
		}
		require.NoError(t, j.Close()) // this adds another head
	}
}

func TestHeadsAreFoundAnywhere(t *testing.T) { headsAreFound(t) }

// A piece of a snapshot whose length is damaged takes no memory: nobody looks for its end.
func TestADamagedLengthIsNotBelieved(t *testing.T) {
	d := disktest.New()
	sample(t, d, 700, 20, 20)
	name := files(d, "snapshot-")[0]
	for _, added := range []byte{1, 0x80} { // the most where an int has 32 bits, and more
		_, err := read(changed(d.Files(), name, func(b []byte) []byte { b[36] += added; return b })) // of the first piece, behind the header
		require.True(t, disktest.Blames(err, name), "%v", err)
		require.ErrorContains(t, err, "a piece is too long")
	}
}

// A journal that its owner does not know is left as it is, with a snapshot and without.
func TestAStrangeJournalIsLeftAlone(t *testing.T) {
	for _, snapshot := range []bool{false, true} {
		d := disktest.New()
		j, err := journal.OpenOn(d, journal.Options{ID: 5})
		require.NoError(t, err)
		require.Equal(t, uint64(5), j.ID())
		var b journal.Batch
		b.Add([]byte("record"))
		require.NoError(t, j.Append(&b))
		if snapshot {
			s, err := j.NewSnapshot(1)
			require.NoError(t, err)
			require.NoError(t, s.Commit())
		}
		require.NoError(t, j.Close())
		before := d.Files()
		_, err = journal.OpenOn(d, journal.Options{Known: 6})
		require.ErrorAs(t, err, new(*journal.StrangeError))
		require.Equal(t, before, d.Files())
		j, err = journal.OpenOn(d, journal.Options{Known: 5})
		require.NoError(t, err)
		require.NoError(t, j.Close())
	}
}
