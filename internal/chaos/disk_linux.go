package chaos

import (
	"errors"
	"os"
	"path/filepath"
)

// disk is the small file system of a node, in a file in memory.
type disk struct{ memory, dir string }

// diskSize is the size of a node's disk. The files of the registers are 64 MiB at first.
const diskSize = "200m"

// newDisk makes a disk. The caller removes it, also after an error.
func newDisk(name string) (disk, error) {
	d := disk{name, filepath.Join(name, "root")}
	image := filepath.Join(name, "image")
	if err := os.MkdirAll(d.memory, 0o700); err != nil {
		return d, err
	}
	if err := run("", "mount", "-t", "tmpfs", "-o", "mode=0700", "none", d.memory); err != nil {
		return d, err
	}
	if err := os.Mkdir(d.dir, 0o700); err != nil {
		return d, err
	}
	if err := run("", "mkfs.ext4", "-q", "-m", "0", "-O", "^has_journal", image, diskSize); err != nil {
		return d, err
	}
	return d, errors.Join(run("", "mount", "-o", "loop", image, d.dir), os.Chmod(d.dir, 0o700))
}

func (d disk) remove() {
	d.thaw()
	_ = run("", "umount", "-l", d.dir) // the directory is temporary
	_ = run("", "umount", "-l", d.memory)
}

// tryDisk returns an error if disks cannot be made.
func tryDisk() error {
	dir, err := os.MkdirTemp("", "failaware-disk-*")
	if err != nil {
		return err
	}
	d, err := newDisk(dir)
	d.remove()
	return errors.Join(err, os.RemoveAll(dir))
}

// freeze makes all writes wait until thaw, even those of killed processes.
func (d disk) freeze() error { return run("", "fsfreeze", "--freeze", d.dir) }

func (d disk) thaw() { _ = run("", "fsfreeze", "--unfreeze", d.dir) } // it may not be frozen

// filler is the file that fills a disk.
func (d disk) filler() string { return filepath.Join(d.dir, "filler") }

// fill fills the disk.
func (d disk) fill() error {
	f, err := os.OpenFile(d.filler(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	for size := 1 << 20; size > 0; {
		if _, err := f.Write(make([]byte, size)); err != nil {
			size /= 16
		}
	}
	return nil
}

func (d disk) empty() error {
	if err := os.Remove(d.filler()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
