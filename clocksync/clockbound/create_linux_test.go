package clockbound

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/clocksync/serve"
	"github.com/failaware/failaware/internal/trust"
	"github.com/failaware/failaware/internal/trust/trusttest"
)

// utcOf returns a source that takes CLOCK_REALTIME for UTC.
func utcOf(bound time.Duration, external bool) serve.Source {
	return func() serve.Answer {
		return serve.Answer{Time: clocksync.Time(time.Now().UnixNano()), Bound: bound, External: external}
	}
}

func create(t *testing.T, path string, source serve.Source) *Writer {
	t.Helper()
	w, err := Create(t.Context(), path, source, Options{Drift: 100_000})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.Close()) })
	return w
}

// until reads until the status is want.
func until(t *testing.T, r *Reader, want Status) Interval {
	t.Helper()
	for {
		i, err := r.Now()
		if err == nil && i.Status == want {
			return i
		}
		if err != nil {
			require.True(t, errors.Is(err, ErrNotReady) || errors.Is(err, ErrBusy), err)
		}
		time.Sleep(time.Millisecond)
	}
}

func TestReaderFollowsWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shm0")
	var external atomic.Bool
	external.Store(true)
	w := create(t, path, func() serve.Answer { return utcOf(time.Millisecond, external.Load())() })
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o644), info.Mode())
	require.Equal(t, int64(segmentSize), info.Size())
	left, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, left, 1, "no temporary files remain")

	r, err := Open(path)
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close()) }()
	before := time.Now()
	i := until(t, r, Synchronized)
	after := time.Now()
	require.False(t, i.Earliest.After(after), "UTC is REALTIME here")
	require.False(t, i.Latest.Before(before))
	require.GreaterOrEqual(t, i.Latest.Sub(i.Earliest), 2*time.Millisecond)
	external.Store(false)
	until(t, r, FreeRunning)
	require.Zero(t, testing.AllocsPerRun(100, func() { _, _ = r.Now() }))

	require.NoError(t, w.Close())
	i, err = r.Now()
	require.NoError(t, err)
	require.Equal(t, Unknown, i.Status, "the writer has ended")
}

func TestStepIsWritten(t *testing.T) {
	stepped := make(chan struct{})
	s := newSegment()
	w := &Writer{author: author{source: utcOf(1000, true), clocks: systemClocks{}, steps: &machine{}, drift: 1}, seg: s, stepped: stepped,
		free: func() error { return nil }, stop: make(chan struct{}), done: make(chan struct{})}
	go w.run()
	stepped <- struct{}{}
	stepped <- struct{}{} // received after the first has been written
	r := &Reader{seg: s, clocks: systemClocks{}}
	until(t, r, Disrupted)
	until(t, r, Synchronized)
	require.NoError(t, w.Close())
	require.NoError(t, w.Close())
	until(t, r, Unknown)
}

// A step stays visible for a whole period, whenever in a period it comes.
func TestAStepStaysVisible(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stepped := make(chan struct{})
		s := newSegment()
		w := &Writer{author: author{source: func() serve.Answer { return serve.Answer{Time: 1000, Bound: 9, External: true} },
			clocks: still{1000, 1000}, steps: &machine{}, drift: 1}, seg: s, stepped: stepped,
			free: func() error { return nil }, stop: make(chan struct{}), done: make(chan struct{})}
		go w.run()
		status := func() Status {
			synctest.Wait()
			var r record
			s.get(&r)
			return r.status
		}
		for range 3 {
			time.Sleep(Period * 9 / 10)
			require.Equal(t, Synchronized, status())
			stepped <- struct{}{}
			require.Equal(t, Disrupted, status())
			time.Sleep(Period - 1)
			require.Equal(t, Disrupted, status())
			time.Sleep(2 * time.Nanosecond)
			require.Equal(t, Synchronized, status())
		}
		require.NoError(t, w.Close())
	})
}

func TestCreateRefusesSegmentInUse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shm0")
	w := create(t, path, utcOf(time.Millisecond, true))
	_, err := Create(t.Context(), path, utcOf(time.Millisecond, true), Options{})
	require.ErrorIs(t, err, ErrInUse)
	require.ErrorContains(t, err, path)
	r, err := Open(path)
	require.NoError(t, err)
	until(t, r, Synchronized)
	require.NoError(t, r.Close())
	require.NoError(t, w.Close())
	create(t, path, utcOf(time.Millisecond, true)) // the closed writer has released it
}

// foreign creates a segment without a lock, as writers of other programs do.
func foreign(t *testing.T, path string, age time.Duration) *segment {
	t.Helper()
	f, err := makeFile(path)
	require.NoError(t, err)
	seg, err := mapped(f, unix.PROT_READ|unix.PROT_WRITE)
	require.NoError(t, err)
	require.NoError(t, unix.Flock(int(f.Fd()), unix.LOCK_UN)) // closing does not unlock a mapped file
	require.NoError(t, f.Close())
	t.Cleanup(func() { require.NoError(t, unmap(seg)) })
	asOf := max(systemClocks{}.coarse()-int64(age), 0)
	seg.write(&record{asOf: asOf, voidAfter: asOf + int64(Validity), status: Synchronized})
	return seg
}

func TestCreateDetectsWriterWithoutLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shm0")
	seg := foreign(t, path, 0)
	result := make(chan error)
	go func() {
		_, err := Create(t.Context(), path, utcOf(1, true), Options{})
		result <- err
	}()
	for {
		select {
		case err := <-result:
			require.ErrorIs(t, err, ErrInUse)
			require.ErrorContains(t, err, "the generation changed")
			return
		case <-time.After(time.Millisecond):
			r := record{asOf: systemClocks{}.coarse(), status: Synchronized}
			seg.write(&r)
		}
	}
}

func TestCreateObeysContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shm0")
	foreign(t, path, 0)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Create(ctx, path, utcOf(1, true), Options{})
	require.ErrorIs(t, err, context.Canceled)
}

// A segment that was written before the last boot is taken over at once: nobody writes it.
func TestCreateTakesOverAfterABoot(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shm0")
	foreign(t, path, -time.Hour)
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // ends a look at whether it is written
	w, err := Create(ctx, path, utcOf(1, true), Options{})
	require.NoError(t, err)
	require.NoError(t, w.Close())
}

func TestCreateTakesOverAfterCrash(t *testing.T) {
	for name, generation := range map[string]uint16{"between two updates": 0x7ffe, "in the middle": 0x7fff, "before zero": 0xffff} {
		path := filepath.Join(t.TempDir(), "shm0")
		seg := foreign(t, path, time.Hour) // or less, since boot
		seg.setHeader(layoutVersion, generation)
		reader, err := Open(path) // before the new writer
		require.NoError(t, err)
		create(t, path, utcOf(time.Millisecond, true))
		until(t, reader, Synchronized)
		_, after := seg.header()
		require.NotZero(t, after, name)
		require.Less(t, after-generation, uint16(100), "%s: the generation continues", name)
		require.NoError(t, reader.Close())
	}
}

func TestCreateLeavesOtherFilesAlone(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	for name, content := range map[string]string{
		"too short": "text", "text": string(make([]byte, 200)),
		"version 3": "NZMA\x00\x02BC\x50\x00\x00\x00\x03\x00\x02\x00" + string(make([]byte, 64)),
	} {
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		_, err := Create(t.Context(), path, utcOf(1, true), Options{})
		require.ErrorIs(t, err, ErrMalformed, name)
		_, err = Open(path)
		require.ErrorIs(t, err, ErrMalformed, name)
		got, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, content, string(got))
	}
	link := filepath.Join(dir, "link")
	require.NoError(t, os.Symlink(path, link))
	_, err := Create(t.Context(), link, utcOf(1, true), Options{})
	require.ErrorIs(t, err, unix.ELOOP, "symbolic links are not followed")
	_, err = Create(t.Context(), dir, utcOf(1, true), Options{})
	require.Error(t, err)
	_, err = Create(t.Context(), filepath.Join(dir, "a", "b", "c"), utcOf(1, true), Options{})
	require.ErrorIs(t, err, os.ErrNotExist)
}

// The owner of a file can truncate it, and a write to a mapped page that the file no
// longer has kills the process.
func TestCreateRefusesFilesOfOthers(t *testing.T) {
	trusttest.NeedRoot(t)
	path := filepath.Join(t.TempDir(), "shm0")
	require.NoError(t, create(t, path, utcOf(0, true)).Close())
	require.NoError(t, os.Chown(path, trusttest.Nobody, trusttest.Nobody))
	_, err := Create(t.Context(), path, utcOf(0, true), Options{Drift: 100_000})
	require.ErrorIs(t, err, trust.ErrUntrusted)
	require.ErrorContains(t, err, path)
	require.NoError(t, os.Chown(path, 0, 0))
	require.NoError(t, os.Chmod(path, 0o666))
	_, err = Create(t.Context(), path, utcOf(0, true), Options{Drift: 100_000})
	require.ErrorIs(t, err, trust.ErrUntrusted)
}

func TestCreateMakesNoDirectories(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "mistyped")
	_, err := Create(t.Context(), filepath.Join(dir, "shm0"), utcOf(0, true), Options{Drift: 100_000})
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NoDirExists(t, dir)

	volatile = append(volatile, filepath.Dir(dir))
	defer func() { volatile = volatile[:len(volatile)-1] }()
	create(t, filepath.Join(dir, "shm0"), utcOf(0, true))
}

// driftOfSegment returns the rate error that a segment says, without the fastest slew of the daemon.
func driftOfSegment(t testing.TB) uint32 {
	path := filepath.Join(t.TempDir(), "shm0")
	w, err := Create(t.Context(), path, utcOf(0, true), Options{Drift: 100_000})
	require.NoError(t, err)
	require.NoError(t, w.Close())
	r, err := Open(path)
	require.NoError(t, err)
	defer r.Close()
	var x record
	r.seg.get(&x)
	return x.maxDrift
}

// A daemon whose fastest slew nobody has named slews as adjtime does.
func TestTheUsualSlewIsCovered(t *testing.T) {
	require.Equal(t, driftOf(100_000, DefaultSlew), driftOfSegment(t))
}

func TestOptionErrors(t *testing.T) {
	_, err := Create(t.Context(), filepath.Join(t.TempDir(), "shm0"), utcOf(1, true), Options{Slew: MaxSlew + 1})
	require.ErrorContains(t, err, "Slew: 100000001 ppb is outside")
	_, err = Create(t.Context(), filepath.Join(t.TempDir(), "shm0"), utcOf(1, true), Options{Drift: -1})
	require.ErrorContains(t, err, "Drift: ")
}
