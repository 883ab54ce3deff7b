package journal

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/failaware/failaware/internal/durable"
)

// Errors to compare with [errors.Is].
var (
	// ErrFull: the disk has no room, or no more files can be opened. Nothing of the batch
	// counts, and it may be appended again.
	ErrFull = durable.ErrFull
	// ErrClosed: the journal is closed.
	ErrClosed = errors.New("journal: closed")
	// ErrTooLarge: a batch is larger than MaxBatch.
	ErrTooLarge = fmt.Errorf("journal: a batch is larger than %d bytes", MaxBatch)
)

// DamagedError says that a file does not hold what was written to it.
type DamagedError struct {
	Path   string
	Offset int64  // in bytes
	What   string // the fault, as in "a checksum is wrong"
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("%s is damaged at offset %d: %s", e.Path, e.Offset, e.What)
}

// MissingError says that a file is missing.
type MissingError struct {
	Path string
	Or   string // what else it may be, if the files that are left do not tell
	Why  string // how that is known
}

func (e *MissingError) Error() string {
	if e.Or == "" {
		return fmt.Sprintf("%s is missing: %s", e.Path, e.Why)
	}
	return fmt.Sprintf("%s, or %s, is missing: %s", e.Path, e.Or, e.Why)
}

// StrangeError says that a file is of another journal than [Options.Known].
type StrangeError struct{ Path string }

func (e *StrangeError) Error() string { return e.Path + " belongs to another journal" }

// about says what failed at which file.
func about(op, path string, err error) error {
	return fmt.Errorf("%s %s: %w", op, path, cause(err))
}

// cause returns an error of a file without the file's name, which the caller adds.
func cause(err error) error {
	if named, ok := err.(*fs.PathError); ok {
		return named.Err
	}
	return err
}

// The alternatives to a missing file of the log, or to a missing snapshot.
const (
	eitherSide    = "an earlier file of the log or a snapshot of more records"
	anySnapshot   = "a snapshot"
	laterSnapshot = "a snapshot of more records"
)
