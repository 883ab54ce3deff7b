package clockbound

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Open maps the segment at path for reading. The error matches [ErrMalformed] if
// the file is not a segment.
func Open(path string) (*Reader, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("clockbound: %w", err)
	}
	seg, err := mapped(f, unix.PROT_READ)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("clockbound: %s: %w", path, err)
	}
	return &Reader{seg: seg, clocks: systemClocks{}, free: func() error { return unmap(seg) }}, nil
}
