package clockbound

import (
	"errors"
	"runtime"
)

// write replaces the record. Only one goroutine of one process may call it. The
// generation is odd while the record changes; a previous writer that crashed during
// a write left it odd. Generation 0 means never written, so an overflow goes to 2.
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

// maxReads bounds the attempts to read a record. A write takes less than a
// microsecond unless the writer is preempted.
const maxReads = 1000

var (
	// ErrNotReady means that the segment has never been written.
	ErrNotReady = errors.New("clockbound: the segment has not been written yet")
	// ErrBusy means that the segment changed during every attempt to read it. Its
	// writer may have crashed during a write.
	ErrBusy = errors.New("clockbound: the segment is being written")
	// ErrMalformed means that the file is not a segment of this version.
	ErrMalformed = errors.New("clockbound: not a segment of version 2")
)

// read reads a record that did not change meanwhile.
func (s *segment) read(r *record) error {
	for range maxReads {
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
