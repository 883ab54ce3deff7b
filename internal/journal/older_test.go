package journal_test

import (
	"bytes"
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

// history is a journal that grows, with all files that it had after each step.
type history struct {
	disk  *disktest.Disk
	all   []string // records
	was   []map[string][]byte
	id    uint64
	steps int
}

// grow appends batches, makes snapshots, and opens the journal again now and then.
func (h *history) grow(t testing.TB, r *rand.Rand) {
	o := journal.Options{Segment: 700, ID: h.id}
	j, err := journal.OpenOn(h.disk, o)
	require.NoError(t, err)
	sure := 0
	for range h.steps {
		switch r.IntN(16) {
		case 0:
			require.NoError(t, j.Close())
			j, err = journal.OpenOn(h.disk, o)
			require.NoError(t, err)
		case 1:
			if len(h.all) > sure {
				require.NoError(t, writeSnapshot(j, h.all))
				sure = len(h.all)
			}
		default:
			h.all = append(h.all, fmt.Sprintf("%d of %d %s\n", len(h.all), h.id, strings.Repeat("x", r.IntN(200))))
			var b journal.Batch
			b.Add([]byte(h.all[len(h.all)-1]))
			require.NoError(t, j.Append(&b))
		}
		files := maps.Clone(h.disk.Files())
		for name, b := range files {
			files[name] = slices.Clone(b)
		}
		h.was = append(h.was, files)
	}
	require.NoError(t, j.Close())
}

// olderCopiesAreNamed brings single files back that a journal had at another time, or that another
// journal has under that name. A refusal names the file, and an offset up to which it is what
// it should be.
func olderCopiesAreNamed(t testing.TB) {
	refused, removed := 0, 0
	for seed := range uint64(4) {
		ours := &history{disk: disktest.New(), id: 1, steps: 60}
		ours.grow(t, rand.New(rand.NewPCG(seed, 5)))
		theirs := &history{disk: disktest.New(), id: 2, steps: 60}
		theirs.grow(t, rand.New(rand.NewPCG(seed, 5))) // with files of the same names
		now := ours.disk.Files()
		last := slices.Max(files(ours.disk, "log-"))
		for _, was := range append(ours.was, theirs.was...) {
			for name, b := range was {
				if bytes.Equal(b, now[name]) {
					continue
				}
				got, err := read(changed(now, name, func([]byte) []byte { return b }))
				if err == nil {
					require.True(t, name == last || slices.Equal(ours.all, got), "seed %d: %s", seed, name)
					removed++
					continue
				}
				refused++
				require.True(t, disktest.Blames(err, name), "seed %d, %s: %v", seed, name, err)
				if d, ok := errors.AsType[*journal.DamagedError](err); ok && now[name] != nil {
					require.True(t, bytes.HasPrefix(now[name], b[:d.Offset]), "seed %d: %v", seed, err)
				}
			}
		}
	}
	require.Positive(t, removed)
	require.Greater(t, refused, 100)
}

func TestOlderCopiesAreNamed(t *testing.T) { olderCopiesAreNamed(t) }
