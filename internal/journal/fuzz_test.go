package journal_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/journal"
	"github.com/failaware/failaware/internal/journal/disktest"
)

// Whatever a journal's files are, it is refused, or can be read, appended to, and read
// again.
func FuzzOpen(f *testing.F) {
	d := disktest.New()
	sample(f, d, 1024, 20, 7)
	files := d.Files()
	for name, b := range files {
		if name != "snapshot-0000000000000007" {
			f.Add(b, files["snapshot-0000000000000007"])
			f.Add(b, []byte{})
		}
	}
	f.Fuzz(func(t *testing.T, log, snapshot []byte) {
		files := map[string][]byte{"log-0000000000000001": log}
		if len(snapshot) > 0 {
			files["snapshot-0000000000000007"] = snapshot
		}
		j, err := journal.OpenOn(disktest.Of(files), journal.Options{Segment: 1024})
		if err != nil {
			return
		}
		if got, err := content(j); err == nil {
			goesOn(t, j, got)
		}
	})
}

// goesOn appends to a journal on a disk of this package, and reads it again.
func goesOn(t testing.TB, j *journal.Journal, want []string) {
	var b journal.Batch
	b.Add([]byte("one more"))
	require.NoError(t, j.Append(&b))
	got, err := content(j)
	require.NoError(t, err)
	require.Equal(t, append(want, "one more"), got)
}

// Whatever stands where the next batch would, nothing of it is read, and nothing
// before it is lost.
func FuzzTail(f *testing.F) {
	f.Add([]byte{}, true)
	f.Add(bytes.Repeat([]byte{0xfa, 0x17, 0x10, 0x9b}, 20), false)
	f.Fuzz(func(t *testing.T, after []byte, mark bool) {
		d := disktest.New()
		want := sample(t, d, 1<<16, 9, 0)
		const name = "log-0000000000000001"
		b := bytes.TrimRight(d.Files()[name], "\x00")
		b = slices.Concat(b, make([]byte, -len(b)&3), after)
		j, err := journal.OpenOn(disktest.Of(map[string][]byte{name: b}), journal.Options{Segment: 1 << 16})
		require.NoError(t, err)
		if mark {
			j.Mark()
		}
		got, err := content(j)
		require.NoError(t, err)
		require.Equal(t, want, got)
		goesOn(t, j, got)
	})
}
