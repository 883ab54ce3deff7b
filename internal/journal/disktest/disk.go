// Package disktest has a disk in memory that loses its power: what was not flushed is
// then kept, lost or torn, as the caller's dice fall.
package disktest

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/failaware/failaware/internal/journal"
)

// sector is how many bytes a disk writes at once.
const sector = 512

// ErrPower: the disk has no power any more.
var ErrPower = errors.New("disktest: the power has failed")

// Disk is a directory on a disk. Methods are safe for concurrent use.
type Disk struct {
	mu    sync.Mutex
	names map[string]*inode // as programs see them
	// flushed are the names on the disk, and changes what has happened to them since.
	flushed map[string]*inode
	changes []change
	calls   int // until the power fails; negative: it does not
	room    int // bytes that may still be written; negative: any number
	fail    error
	before  func()
	syncs   int
	writes  int
}

// change is a change of names: a file gets a name, and loses another.
type change struct {
	add, remove string
	file        *inode
}

// inode is a file: its bytes as programs see them, and those on the disk.
type inode struct {
	disk          *Disk
	bytes, stable []byte
	// dropped are the sectors that a failed flush has not written. Programs still read them,
	// and no later flush writes them unless they are written again, as on Linux.
	dropped map[int]bool
}

// New returns an empty disk, whose power does not fail.
func New() *Disk {
	return &Disk{names: map[string]*inode{}, flushed: map[string]*inode{}, calls: -1, room: -1}
}

// FailAfter makes the power fail at the call after the next n ones.
func (d *Disk) FailAfter(n int) { d.set(func() { d.calls = n }) }

// SetRoom makes the disk full once n more bytes were written; a negative n makes room.
func (d *Disk) SetRoom(n int) { d.set(func() { d.room = n }) }

// FailSync makes every flush of a file fail, unless err is nil. What a flush has not written
// is not written by a later one either, unless the error is [ErrPower]: then it did not begin.
func (d *Disk) FailSync(err error) { d.set(func() { d.fail = err }) }

// BeforeSync has f called before each flush of a file.
func (d *Disk) BeforeSync(f func()) { d.set(func() { d.before = f }) }

// Syncs returns how often files were flushed.
func (d *Disk) Syncs() (n int) {
	d.set(func() { n = d.syncs })
	return n
}

// Writes returns how often files were written to.
func (d *Disk) Writes() (n int) {
	d.set(func() { n = d.writes })
	return n
}

func (d *Disk) set(f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f()
}

// Files returns the content of all files, which may be changed in place.
func (d *Disk) Files() map[string][]byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := map[string][]byte{}
	for name, f := range d.names {
		out[name] = f.bytes
	}
	return out
}

// Of returns a disk with these files, all flushed.
func Of(files map[string][]byte) *Disk {
	d := New()
	for name, b := range files {
		d.names[name] = &inode{disk: d, bytes: slices.Clone(b), stable: slices.Clone(b)}
	}
	d.flushed = maps.Clone(d.names)
	return d
}

// Survivor returns the disk as it is when the power is back.
func (d *Disk) Survivor(r *rand.Rand) *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	names := maps.Clone(d.flushed)
	for _, c := range d.changes {
		if r.IntN(2) == 0 {
			continue
		}
		delete(names, c.remove)
		if c.add != "" {
			names[c.add] = c.file
		}
	}
	files := map[string][]byte{}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		files[name] = names[name].survive(r)
	}
	return Of(files)
}

// survive returns the content after a loss of power.
func (f *inode) survive(r *rand.Rand) []byte {
	out := slices.Clone(f.stable)
	if r.IntN(2) == 0 { // the size is that of the last write
		out = append(out, make([]byte, max(0, len(f.bytes)-len(out)))...)[:len(f.bytes)]
	}
	luck := r.IntN(3) // keep most, lose most, or anything
	for at := 0; at < len(out); at += sector {
		end := min(at+sector, len(out), len(f.bytes))
		if end <= at || f.dropped[at/sector] || luck == 0 && r.IntN(8) == 0 || luck == 1 && r.IntN(8) > 0 || luck == 2 && r.IntN(2) == 0 {
			continue
		}
		if r.IntN(4) == 0 {
			end = at + r.IntN(end-at) // a torn sector
		}
		copy(out[at:end], f.bytes[at:end])
	}
	return out
}

// call counts a call. The caller holds mu.
func (d *Disk) call() error {
	if d.calls == 0 {
		return ErrPower
	}
	if d.calls > 0 {
		d.calls--
	}
	return nil
}

func (d *Disk) change(c change) {
	delete(d.names, c.remove)
	if c.add != "" {
		d.names[c.add] = c.file
	}
	d.changes = append(d.changes, c)
}

// Path implements [journal.Disk].
func (d *Disk) Path(name string) string { return "disk/" + name }

// Create implements [journal.Disk].
func (d *Disk) Create(name string) (journal.File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.call(); err != nil {
		return nil, err
	}
	f := &inode{disk: d}
	d.change(change{add: name, file: f})
	return f, nil
}

// Open implements [journal.Disk].
func (d *Disk) Open(name string) (journal.File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f, ok := d.names[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return f, d.call()
}

// List implements [journal.Disk].
func (d *Disk) List() ([]string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Sorted(maps.Keys(d.names)), d.call()
}

// Rename implements [journal.Disk].
func (d *Disk) Rename(from, to string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	f, ok := d.names[from]
	if err := d.call(); err != nil || !ok {
		return errors.Join(err, fs.ErrNotExist)
	}
	d.change(change{to, from, f})
	return nil
}

// Remove implements [journal.Disk].
func (d *Disk) Remove(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.call(); err != nil {
		return err
	}
	d.change(change{remove: name})
	return nil
}

// Sync implements [journal.Disk].
func (d *Disk) Sync() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.call(); err != nil {
		return err
	}
	d.flushed, d.changes = maps.Clone(d.names), nil
	return nil
}

// ReadAt implements [journal.File].
func (f *inode) ReadAt(b []byte, at int64) (int, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if at >= int64(len(f.bytes)) {
		return 0, io.EOF
	}
	n := copy(b, f.bytes[at:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

// WriteAt implements [journal.File]. When the power fails, or the disk is full, a part
// is written.
func (f *inode) WriteAt(b []byte, at int64) (int, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	f.disk.writes++
	before, err := f.disk.calls, f.disk.call()
	if err != nil {
		return 0, err
	}
	if before == 1 {
		b, err = b[:len(b)/2], ErrPower
	}
	if room := f.disk.room; room >= 0 && room < len(b) {
		b, err = b[:room], journal.ErrFull
	}
	if f.disk.room >= 0 {
		f.disk.room -= len(b)
	}
	f.resize(max(int64(len(f.bytes)), at+int64(len(b))))
	copy(f.bytes[at:], b)
	for i := int(at) / sector; len(b) > 0 && i*sector < int(at)+len(b); i++ {
		delete(f.dropped, i) // the system writes whole sectors
	}
	return len(b), err
}

func (f *inode) resize(size int64) {
	f.bytes = append(f.bytes, make([]byte, max(0, size-int64(len(f.bytes))))...)[:size]
}

// Close implements [journal.File].
func (f *inode) Close() error { return nil }

// Size implements [journal.File].
func (f *inode) Size() (int64, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	return int64(len(f.bytes)), nil
}

// Truncate implements [journal.File].
func (f *inode) Truncate(size int64) error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if err := f.disk.call(); err != nil {
		return err
	}
	f.bytes = slices.Clone(f.bytes[:min(size, int64(len(f.bytes)))])
	return nil
}

// Allocate implements [journal.File].
func (f *inode) Allocate(size int64) error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if err := f.disk.call(); err != nil {
		return err
	}
	f.resize(max(size, int64(len(f.bytes))))
	return nil
}

// Sync implements [journal.File].
func (f *inode) Sync() error {
	f.disk.mu.Lock()
	before := f.disk.before
	f.disk.mu.Unlock()
	if before != nil {
		before()
	}
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if err := f.disk.call(); err != nil {
		return err
	}
	if err := f.disk.fail; err != nil {
		if !errors.Is(err, ErrPower) {
			f.drop()
		}
		return err
	}
	f.disk.syncs++
	f.stable = f.flushed()
	return nil
}

// drop forgets that the disk lacks something.
func (f *inode) drop() {
	if f.dropped == nil {
		f.dropped = map[int]bool{}
	}
	for at := 0; at < len(f.bytes); at += sector {
		if !bytes.Equal(part(f.bytes, at), part(f.stable, at)) {
			f.dropped[at/sector] = true
		}
	}
}

// flushed returns what the disk has after a flush.
func (f *inode) flushed() []byte {
	out := slices.Clone(f.bytes)
	for i := range f.dropped {
		if lost := part(out, i*sector); len(lost) > 0 {
			clear(lost)
			copy(lost, part(f.stable, i*sector))
		}
	}
	return out
}

// part returns the bytes of a sector.
func part(b []byte, at int) []byte { return b[min(at, len(b)):min(at+sector, len(b))] }
