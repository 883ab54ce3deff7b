package replicate_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// powerDisk is a file system in a file, whose power can fail. The goroutine of the test and the
// processes that it starts see it, and no others: it ends with them, and nobody else keeps it busy.
type powerDisk struct {
	t          *testing.T
	image, dir string
}

// The ioctl EXT4_IOC_SHUTDOWN with the flag EXT4_GOING_FLAGS_NOLOGFLUSH: from now on every call
// fails, and nothing is written any more, not even the journal of the file system.
const (
	shutdown   = 0x8004587d
	noLogFlush = 2
)

// newPowerDisk mounts a new file system at a directory. It skips the test where that is
// impossible.
func newPowerDisk(t *testing.T, dir string) *powerDisk {
	d := &powerDisk{t, filepath.Join(t.TempDir(), "image"), dir}
	require.NoError(t, os.WriteFile(d.image, nil, 0o600))
	require.NoError(t, os.Truncate(d.image, 2<<30))
	runtime.LockOSThread() // for good: the thread ends with the test
	for _, step := range []func() error{
		func() error { return unix.Unshare(unix.CLONE_NEWNS) },
		func() error { return unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "") },
		func() error { return run("mkfs.ext4", "-q", "-m", "0", d.image) },
		d.mount,
	} {
		if err := step(); err != nil {
			t.Skip("a disk whose power fails needs root, mkfs.ext4 and loop devices: ", err)
		}
	}
	t.Cleanup(func() { require.NoError(t, d.unmount()) })
	return d
}

func run(name string, args ...string) error {
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %v: %w: %s", name, args, err, out)
	}
	return nil
}

func (d *powerDisk) mount() error { return run("mount", "-o", "loop", d.image, d.dir) }

func (d *powerDisk) unmount() error { return run("umount", d.dir) }

// fail makes the power fail, of the disk and of the machines on which processes run. These stop
// before the disk: a flush that is under way when the file system is shut down may be reported to
// have succeeded, which no disk without power does.
func (d *powerDisk) fail(running ...*exec.Cmd) {
	for _, p := range running {
		require.NoError(d.t, p.Process.Signal(unix.SIGSTOP))
	}
	for _, p := range running {
		for !stands(d.t, p.Process.Pid) {
			runtime.Gosched()
		}
	}
	f, err := os.Open(d.dir)
	require.NoError(d.t, err)
	defer f.Close()
	require.NoError(d.t, unix.IoctlSetPointerInt(int(f.Fd()), shutdown, noLogFlush))
}

// stands reports whether no thread of a process that was told to stop can run its own code: each
// has stopped, waits for the disk, or has ended.
func stands(t *testing.T, pid int) bool {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	require.NoError(t, err)
	for _, path := range threads {
		b, err := os.ReadFile(path)
		if err != nil {
			return false // the thread has just ended
		}
		_, fields, _ := strings.Cut(string(b), ") ")
		if fields == "" || !strings.ContainsRune("TDZX", rune(fields[0])) {
			return false
		}
	}
	return len(threads) > 0
}

// comeBack mounts the file system again, with what was flushed when its power failed. No process
// has a file of it.
func (d *powerDisk) comeBack() {
	require.NoError(d.t, d.unmount())
	require.NoError(d.t, d.mount())
}

// A disk keeps what was flushed, and loses the rest.
func TestPowerDisksLoseWhatWasNotFlushed(t *testing.T) {
	dir := t.TempDir()
	d := newPowerDisk(t, dir)
	kept, lost := filepath.Join(dir, "kept"), filepath.Join(dir, "lost")
	f, err := os.Create(kept)
	require.NoError(t, err)
	write := func(text string) {
		_, err := f.WriteString(text)
		require.NoError(t, err)
	}
	write("flushed")
	require.NoError(t, f.Sync())
	write(", and more")
	require.NoError(t, os.WriteFile(lost, nil, 0o600))
	d.fail()
	require.Error(t, f.Sync())
	require.NoError(t, f.Close())
	d.comeBack()
	b, err := os.ReadFile(kept)
	require.NoError(t, err)
	require.Equal(t, "flushed", string(b))
	require.NoFileExists(t, lost)
}
