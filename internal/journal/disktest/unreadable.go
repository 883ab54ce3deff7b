package disktest

import (
	"errors"

	"github.com/failaware/failaware/internal/journal"
)

// ErrUnread: the disk could not be read.
var ErrUnread = errors.New("disktest: input/output error")

// Unreadable is a disk of which a call fails that only looks.
type Unreadable struct {
	*Disk
	Left    int  // such calls before it
	Lasting bool // those after it fail, too; otherwise they succeed
	Failed  bool // one has failed
}

func (d *Unreadable) fails() error {
	d.Left--
	if d.Left == -1 || d.Left < -1 && d.Lasting {
		d.Failed = true
		return ErrUnread
	}
	return nil
}

// List implements [journal.Disk]. What it has until it fails are some of the names.
func (d *Unreadable) List() ([]string, error) {
	all, err := d.Disk.List()
	if failed := d.fails(); failed != nil {
		return all[:len(all)/2], failed
	}
	return all, err
}

// Open implements [journal.Disk].
func (d *Unreadable) Open(name string) (journal.File, error) {
	if err := d.fails(); err != nil {
		return nil, err
	}
	f, err := d.Disk.Open(name)
	return unreadableFile{f, d}, err
}

type unreadableFile struct {
	journal.File
	disk *Unreadable
}

// Size implements [journal.File].
func (f unreadableFile) Size() (int64, error) {
	if err := f.disk.fails(); err != nil {
		return 0, err
	}
	return f.File.Size()
}

// ReadAt implements [io.ReaderAt]. A read that fails has some of the bytes.
func (f unreadableFile) ReadAt(b []byte, at int64) (int, error) {
	if err := f.disk.fails(); err != nil {
		n, _ := f.File.ReadAt(b, at)
		return n / 2, err
	}
	return f.File.ReadAt(b, at)
}
