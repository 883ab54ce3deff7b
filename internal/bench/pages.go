package bench

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/failaware/failaware/replicate"
)

// pages is a large state that takes little memory, because its pages are computed. So the
// memory of a process is that of the library. Each operation changes a page.
type pages struct {
	changes  []uint32 // by page
	restored atomic.Uint64
}

const pageBytes = 16 << 10

func newPages(mib int) *pages { return &pages{changes: make([]uint32, mib<<20/pageBytes)} }

// Apply implements [replicate.Application].
func (p *pages) Apply(op replicate.Operation) any {
	p.changes[binary.BigEndian.Uint32(op.Command)%uint32(len(p.changes))]++
	return nil
}

// Snapshot implements [replicate.Application].
func (p *pages) Snapshot(w io.Writer) error {
	page := make([]byte, pageBytes)
	for i, n := range p.changes {
		x := uint64(i)<<32 + uint64(n)
		binary.BigEndian.PutUint64(page, x)
		for at := 8; at < pageBytes; at += 8 { // no page looks like another
			x = x*0x5851f42d4c957f2d + 0x14057b7ef767814f
			binary.BigEndian.PutUint64(page[at:], x)
		}
		if _, err := w.Write(page); err != nil {
			return err
		}
	}
	return nil
}

// Restore implements [replicate.Application].
func (p *pages) Restore(r io.Reader) error {
	page := make([]byte, pageBytes)
	for i := range p.changes {
		if _, err := io.ReadFull(r, page); err != nil {
			return err
		}
		x := binary.BigEndian.Uint64(page)
		if x>>32 != uint64(i) {
			return fmt.Errorf("page %d is %d", i, x>>32)
		}
		p.changes[i] = uint32(x)
	}
	if _, err := io.ReadFull(r, page); !errors.Is(err, io.EOF) {
		return fmt.Errorf("more than %d pages", len(p.changes))
	}
	p.restored.Add(1)
	return nil
}
