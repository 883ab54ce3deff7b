package engine

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/failaware/failaware/internal/replica"
)

// A part is what has come of a snapshot. With a Storage it outlives the process in a file, so
// that a node that is killed during the transfer of a large state gets only the rest after its
// next start. The file is not flushed: whoever reads it names its blocks by what they are.

// partPrefix begins the names of the files.
const partPrefix = "incoming-"

// NewPart returns room for a snapshot that comes from others.
func (s *Spool) NewPart() replica.Bytes { return &spooled{spool: s, part: true} }

// Part returns the largest part that an earlier process has left, or nil, and removes the
// others. What cannot be read is none.
func (s *Spool) Part(c *replica.Config) *replica.Content {
	if !s.keeps {
		return nil
	}
	var largest string
	var size int64
	entries, _ := os.ReadDir(s.dir)
	for _, e := range entries {
		path := filepath.Join(s.dir, e.Name())
		info, err := os.Lstat(path)
		if err != nil || !info.Mode().IsRegular() || !strings.HasPrefix(e.Name(), partPrefix) {
			continue
		}
		drop := path
		if info.Size() > size {
			drop, largest, size = largest, path, info.Size()
		}
		_ = os.Remove(drop)
	}
	f, err := os.OpenFile(largest, os.O_RDWR, 0)
	if err != nil {
		return nil
	}
	b := &spooled{spool: s, part: true}
	b.use(f, size)
	part, err := c.ReadPart(b, size)
	if err != nil {
		b.Discard()
		return nil
	}
	return part
}
