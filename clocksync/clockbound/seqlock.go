package clockbound

import (
	"errors"
	"runtime"
)

// write replaces the record. Only one goroutine of one process may call it. The
// generation is odd while the record changes. A writer before this one may have
// died in the middle and have left it odd; then it stays odd. Zero means that
// nothing was ever written, so an overflow goes to two.
func (s *segment) write(r *record) {
	_, generation := s.header()
	generation |= 1
	s.setHeader(layoutVersion, generation)
	s.put(r)
	if generation++; generation == 0 {
		generation = 2
	}
	s.setHeader(layoutVersion, generation)
}

// readTries bounds how often a reader looks again. A writer is done within less
// than a microsecond, unless it waits for a processor in the middle.
const readTries = 1000

var (
	// ErrNotReady tells that the segment has never been written.
	ErrNotReady = errors.New("clockbound: the segment has not been written yet")
	// ErrBusy tells that the segment was being written for as long as the reader
	// looked; its writer may have died in the middle.
	ErrBusy = errors.New("clockbound: the segment is being written")
	// ErrMalformed tells that the file is no segment of this version.
	ErrMalformed = errors.New("clockbound: not a segment of version 2")
)

// read returns a record that was whole.
func (s *segment) read(r *record) error {
	for range readTries {
		version, before := s.header()
		switch {
		case version == 0 || before == 0:
			return ErrNotReady
		case version != layoutVersion:
			return ErrMalformed
		}
		s.get(r)
		_, after := s.header()
		if before == after && before%2 == 0 {
			return nil
		}
		runtime.Gosched()
	}
	return ErrBusy
}
