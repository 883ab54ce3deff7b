package engine

import (
	"fmt"
	"io"
	"os"
	"runtime"

	"github.com/failaware/failaware/internal/durable"
	"github.com/failaware/failaware/internal/replica"
)

// Spool keeps the snapshots that are transferred, and the operations that wait for them:
// what is small in memory, and what is larger in files. The files go with the process, except
// those of parts, which part.go describes.
type Spool struct {
	dir    string
	memory int
	keeps  bool // the parts
}

// NewSpool returns a spool that keeps a snapshot, or the waiting operations of a view, of up
// to memory bytes in memory, and larger ones in dir. With keeps, the directory is this node's
// alone, what has come of snapshots stays there for the next process, and a failure of its disk
// ends the node, whose state is there. Otherwise the state may be in memory only, so the node
// waits until the directory is mended.
func NewSpool(dir string, memory int, keeps bool) *Spool {
	return &Spool{durable.Abs(dir), memory, keeps}
}

// Check returns why there can be no files.
func (s *Spool) Check() error {
	f, err := s.create(false)
	if err == nil {
		discard(f)
	}
	return err
}

// create creates a file. Unless it is for a part that is kept, it has no name where the system
// allows that, so that nothing is left when the process is killed.
func (s *Spool) create(part bool) (*os.File, error) {
	name := "failaware-snapshot-*"
	if part = part && s.keeps; part {
		name = partPrefix + "*"
	}
	f, err := os.CreateTemp(s.dir, name)
	if err != nil {
		return nil, fmt.Errorf("replicate: Spool: %w", err)
	}
	if !part {
		_ = os.Remove(f.Name()) // or discard does
	}
	return f, nil
}

// discard ends a file.
func discard(f *os.File) {
	_ = f.Close() // what it has is not needed
	_ = os.Remove(f.Name())
}

// NewBytes returns room for a snapshot, or for the operations of a view that wait.
func (s *Spool) NewBytes() replica.Bytes { return &spooled{spool: s} }

// spooled is the bytes of a snapshot or of waiting operations.
type spooled struct {
	spool  *Spool
	part   bool // of a snapshot that comes
	memory replica.Memory
	file   storage // nil: they are in memory
	size   int64   // of the file
	end    runtime.Cleanup
}

// Discard implements [replica.Bytes].
func (b *spooled) Discard() {
	b.memory.Discard()
	if f, ok := b.file.(*os.File); ok {
		b.end.Stop() // another file may have the name by then
		discard(f)
	}
}

// storage is a file. Tests have one that fails.
type storage interface {
	io.ReaderAt
	io.WriterAt
}

// Append implements [replica.Bytes].
func (b *spooled) Append(p []byte) error {
	err := b.add(p)
	if err != nil && b.spool.keeps && !durable.Passes(err) {
		return &replica.BrokenError{Err: err}
	}
	return err
}

// add is Append. Its error does not say whether another call may succeed.
func (b *spooled) add(p []byte) error {
	if b.file == nil && len(b.memory)+len(p) <= b.spool.memory {
		return b.memory.Append(p)
	}
	if b.file == nil {
		if err := b.spill(); err != nil {
			return err
		}
	}
	n, err := b.file.WriteAt(p, b.size)
	if err != nil {
		return fmt.Errorf("replicate: Spool: %w", err)
	}
	b.size += int64(n)
	return nil
}

// spill moves the bytes from the memory to a new file.
func (b *spooled) spill() error {
	f, err := b.spool.create(b.part)
	if err != nil {
		return err
	}
	return b.move(f)
}

// move moves the bytes from the memory to a file, which it discards if that fails.
func (b *spooled) move(f *os.File) error {
	if _, err := f.Write(b.memory); err != nil {
		discard(f)
		return fmt.Errorf("replicate: Spool: %w", err)
	}
	size := int64(len(b.memory))
	b.memory = nil
	b.use(f, size)
	return nil
}

// use has the bytes be those of a file.
func (b *spooled) use(f *os.File, size int64) {
	b.file, b.size = f, size
	end := discard // a snapshot has several readers, and the last is not known
	if b.part && b.spool.keeps {
		end = func(f *os.File) { _ = f.Close() } // the next process has its name
	}
	b.end = runtime.AddCleanup(b, end, f)
}

// ReadAt implements [io.ReaderAt].
func (b *spooled) ReadAt(p []byte, off int64) (int, error) {
	if b.file == nil {
		return b.memory.ReadAt(p, off)
	}
	n, err := b.file.ReadAt(p, off)
	if err == io.EOF && off+int64(n) < b.size {
		err = io.ErrUnexpectedEOF // the file has lost its end
	}
	if err != nil && err != io.EOF {
		err = fmt.Errorf("replicate: Spool: %w", err)
	}
	return n, err
}
