package journal_test

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/journal"
	"github.com/failaware/failaware/internal/journal/disktest"
)

// readsFail has each look at a disk fail, once or from then on, while a journal is opened and read. The journal is
// refused for that reason, unless it got what it needed; no file is changed by the refusal, and
// the next process finds everything. The files of the second journal are damaged, which no
// failed read may hide.
func readsFail(t testing.TB) {
	o := journal.Options{Segment: 700}
	whole := disktest.New()
	want := sample(t, whole, o.Segment, 36, 15)
	last := slices.Max(files(whole, "log-"))
	damaged := disktest.Of(changed(whole.Files(), last, func(b []byte) []byte {
		b[50] ^= 1
		return b
	}))
	for k := range 4 {
		d := []*disktest.Disk{whole, damaged}[k/2]
		refused := 0
		for looks, failed := 0, true; failed; looks++ {
			bad := &disktest.Unreadable{Disk: disktest.Of(d.Files()), Left: looks, Lasting: k%2 == 1}
			var got []string
			j, err := journal.OpenOn(bad, o)
			if err != nil {
				require.Equal(t, d.Files(), bad.Files(), "look %d: a refusal changes nothing", looks)
			} else {
				got, err = content(j)
			}
			switch failed = bad.Failed; {
			case d == damaged:
				require.Error(t, err, "look %d: the damage is hidden", looks)
				continue
			case err != nil:
				require.ErrorIs(t, err, disktest.ErrUnread, "look %d", looks)
				refused++
				got, err = read(bad.Files())
			}
			require.NoError(t, err, "look %d", looks)
			require.Equal(t, want, got, "look %d", looks)
		}
		require.True(t, d == damaged || refused > 10)
	}
}

// What cannot be read is not missing.
func TestAFailedReadIsNoEnd(t *testing.T) { readsFail(t) }

// piecesAreChecked damages a snapshot of several pieces in one place after the other. What a reader
// gets of it before it hears of the damage is what was written: an application parses it.
func piecesAreChecked(t testing.TB) {
	d, o := disktest.New(), journal.Options{Segment: 1 << 12}
	j, err := journal.OpenOn(d, o)
	require.NoError(t, err)
	require.NoError(t, appendOne(j, 1, 9))
	want := strings.Repeat("0123456789abcde", 12_000)
	s, err := j.NewSnapshot(1)
	require.NoError(t, err)
	_, err = s.Write([]byte(want))
	require.NoError(t, err)
	require.NoError(t, s.Commit())
	_, err = s.Write([]byte("more"))
	require.ErrorIs(t, err, journal.ErrClosed)
	require.ErrorIs(t, s.Commit(), journal.ErrClosed)
	s.Abandon() // too late
	require.NoError(t, j.Close())
	name := files(d, "snapshot-")[0]
	damaged := 0
	for at := 40; at < len(d.Files()[name]); at += 4999 {
		j, err := journal.OpenOn(disktest.Of(changed(d.Files(), name, func(b []byte) []byte {
			b[at] ^= 1
			return b
		})), o)
		require.NoError(t, err, "the content is not read yet")
		_, r, err := j.Snapshot()
		require.NoError(t, err)
		got, err := io.ReadAll(r)
		require.ErrorAs(t, err, new(*journal.DamagedError), "byte %d", at)
		require.True(t, strings.HasPrefix(want, string(got)), "byte %d", at)
		damaged++
	}
	require.Greater(t, damaged, 30)
}

func TestNoPieceIsReadUnchecked(t *testing.T) { piecesAreChecked(t) }

// changesBehindTheLook has a disk give other bytes when records are replayed than when the journal
// was opened. No record is left out in silence because of that.
func changesBehindTheLook(t testing.TB) {
	d := disktest.New()
	want := sample(t, d, 700, 20, 0)
	for name, b := range d.Files() {
		for at := 0; at < len(b); at += 9 {
			disk := disktest.Of(d.Files())
			j, err := journal.OpenOn(disk, journal.Options{Segment: 700})
			require.NoError(t, err)
			disk.Files()[name][at] ^= 0x10
			got, err := content(j)
			if err == nil {
				require.Equal(t, want, got, "%s, byte %d", name, at)
				continue
			}
			require.True(t, names(err), "%v", err)
		}
	}
}

func TestARecordThatIsGoneWhenItIsReplayedIsMissed(t *testing.T) { changesBehindTheLook(t) }
