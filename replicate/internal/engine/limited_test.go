package engine

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/failaware/failaware/internal/replica"
)

// snapshotsAreLimited has an application write snapshots in pieces of any sizes. No snapshot
// becomes larger than the limit, and one that is not larger is written whole.
func snapshotsAreLimited(t testing.TB) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.IntRange(1, 300).Draw(t, "most")
		var out bytes.Buffer
		w := &limited{most: most, w: bufio.NewWriterSize(&out, 16)}
		var want []byte
		for range rapid.IntRange(1, 10).Draw(t, "pieces") {
			p := bytes.Repeat([]byte("x"), rapid.IntRange(0, 100).Draw(t, "bytes"))
			n, err := w.Write(p)
			if len(want)+len(p) > most {
				require.Equal(t, replica.ErrSnapshotTooLarge, err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, len(p), n)
			want = append(want, p...)
		}
		require.NoError(t, w.w.Flush())
		require.Equal(t, want, append([]byte(nil), out.Bytes()...))
	})
}

func TestSnapshotsAreLimited(t *testing.T) { snapshotsAreLimited(t) }

// nowhere is a snapshot's place that takes nothing.
type nowhere struct{ replica.Memory }

var errNowhere = errors.New("no space left on device")

func (*nowhere) Append([]byte) error { return errNowhere }

// A snapshot that could not be written has one cause, which is told once, in one line of the
// log.
func TestTheCauseOfAFailedSnapshotIsToldOnce(t *testing.T) {
	for _, app := range []Application{&words{list: []string{strings.Repeat("x", 3*writerBytes)}}, blunt{&words{list: []string{"x"}}}} {
		e, err := New(replica.Config{NewBytes: func() replica.Bytes { return new(nowhere) }}, nil, app, nil, nil, nil)
		require.NoError(t, err)
		_, err = e.snapshot()
		require.ErrorIs(t, err, errNowhere)
		require.NotContains(t, err.Error(), "\n")
	}
}

// deaf is an application that does not pass on why it could not write.
type deaf struct{ *words }

func (d deaf) Save(w io.Writer) error {
	_ = d.words.Save(w)
	return nil
}

// counted counts the snapshots that take room.
type counted struct {
	replica.Memory
	open *int
}

func (c *counted) Discard() { *c.open-- }

// cutOff has applications make snapshots that do not fit, with room for some of them or none. What
// was written is no snapshot, whatever the application makes of the error, and takes no room.
func cutOff(t testing.TB) {
	for _, size := range []int{100, 3 * writerBytes} {
		state := &words{list: []string{strings.Repeat("x", size)}}
		for _, app := range []Application{state, blunt{state}, deaf{state}} {
			open := 0
			for want, cfg := range map[error]replica.Config{
				replica.ErrSnapshotTooLarge: {MaxSnapshot: size - 10, NewBytes: func() replica.Bytes { open++; return &counted{open: &open} }},
				errNowhere:                  {NewBytes: func() replica.Bytes { return new(nowhere) }},
			} {
				e, err := New(cfg, nil, app, nil, nil, nil)
				require.NoError(t, err)
				_, err = e.snapshot()
				require.ErrorIs(t, err, want, "%T with %d bytes", app, size)
				require.Zero(t, open)
			}
		}
	}
}

func TestWhatWasCutOffIsNoSnapshot(t *testing.T) { cutOff(t) }
