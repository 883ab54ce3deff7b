package journal_test

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/durable"
	"github.com/failaware/failaware/internal/journal"
)

// exhaustedSystem requires that a file which cannot be made for lack of descriptors may be made
// later, and that one which is not there for opening is a fault as ever.
func exhaustedSystem(t testing.TB) {
	require.True(t, durable.Passes(syscall.ENFILE))
	require.True(t, durable.Passes(syscall.ENOSPC))
	require.False(t, durable.Passes(syscall.EIO))
	disk := journal.System(t.TempDir())
	var before syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &before))
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 0, Max: before.Max}))
	_, made := disk.Create("file")
	_, opened := disk.Open("file")
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &before))
	require.ErrorIs(t, made, journal.ErrFull)
	require.ErrorIs(t, made, syscall.EMFILE)
	require.NotContains(t, made.Error(), "full")
	require.ErrorIs(t, opened, syscall.EMFILE)
	require.NotErrorIs(t, opened, journal.ErrFull)
	f, err := disk.Create("file")
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

// tight is a directory whose process can open no more files once one was made.
type tight struct {
	journal.Disk
	then func()
}

func (d *tight) Create(name string) (journal.File, error) {
	f, err := d.Disk.Create(name)
	d.then()
	return f, err
}

// exhaustedRotation has a journal begin a segment while no more files can be opened, before it
// has made that one's file, and after.
func exhaustedRotation(t testing.TB) {
	var limit syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	set := func(open uint64) {
		require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: open, Max: limit.Max}))
	}
	defer set(limit.Cur)
	d := &tight{journal.System(t.TempDir()), func() {}}
	j, err := journal.OpenOn(d, journal.Options{Segment: 4096})
	require.NoError(t, err)
	var b journal.Batch
	b.Add(make([]byte, 3000))
	require.NoError(t, j.Append(&b))
	set(0)
	before := j.Append(&b)
	set(limit.Cur)
	require.ErrorIs(t, before, syscall.EMFILE)
	require.ErrorIs(t, before, journal.ErrFull)
	require.NoError(t, j.Append(&b), "it is tried again")
	d.then = func() { set(0) }
	behind := j.Append(&b)
	set(limit.Cur)
	require.NoError(t, behind, "nothing else is opened")
	require.NoError(t, j.Close())
}
