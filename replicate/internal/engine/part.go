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

// partPrefix begins the names of the files, and a number ends them.
const partPrefix = "incoming-"

// NewPart returns room for a snapshot that comes from others.
func (s *Spool) NewPart() replica.Bytes { return &spooled{spool: s, part: true} }

// Part returns the largest part that an earlier process has left, or nil, and removes all that
// are not used: the others, one that cannot be read, and one that is larger than MaxSnapshot.
func (s *Spool) Part(c *replica.Config) *replica.Content {
	if !s.keeps {
		return nil
	}
	all := parts(s.dir)
	largest, size := "", int64(0)
	for path, bytes := range all {
		if bytes > size && bytes <= int64(c.WithDefaults().MaxSnapshot) {
			largest, size = path, bytes
		}
	}
	for path := range all {
		if path != largest {
			_ = os.Remove(path)
		}
	}
	if largest == "" {
		return nil
	}
	f, err := os.OpenFile(largest, os.O_RDWR, 0)
	if err != nil {
		_ = os.Remove(largest)
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

// RemoveParts removes the parts of a directory that keeps none any more.
func RemoveParts(dir string) {
	for path := range parts(dir) {
		_ = os.Remove(path)
	}
}

// parts returns the sizes of the parts in a directory by their paths.
func parts(dir string) map[string]int64 {
	found := map[string]int64{}
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		number, ok := strings.CutPrefix(e.Name(), partPrefix)
		info, err := e.Info()
		if ok && strings.Trim(number, "0123456789") == "" && err == nil && info.Mode().IsRegular() {
			found[filepath.Join(dir, e.Name())] = info.Size()
		}
	}
	return found
}
