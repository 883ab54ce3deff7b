package journal

import "io"

// Disk is the directory of a journal. Tests have one that loses its power.
type Disk interface {
	// Create makes a file, or empties it if there is one. Its error matches [ErrFull] if
	// the disk has no room for one, or no more files can be opened.
	Create(name string) (File, error)
	// Open opens a file for reading and writing.
	Open(name string) (File, error)
	// List returns the names of all files.
	List() ([]string, error)
	// Rename gives a file another name, which no file has.
	Rename(from, to string) error
	Remove(name string) error
	// Sync makes the names durable.
	Sync() error
	// Path returns the path of a file, for errors.
	Path(name string) string
}

// File is a file of a [Disk].
type File interface {
	io.ReaderAt
	// WriterAt extends the file if need be. Its error matches [ErrFull] if there is no
	// room; a part may then be written.
	io.WriterAt
	io.Closer
	Size() (int64, error)
	Truncate(size int64) error
	// Allocate reserves room, so that the file has a size, of zeros where nothing was
	// written. It does nothing on systems that cannot do it quickly. Its error
	// matches [ErrFull] if there is no room.
	Allocate(size int64) error
	// Sync makes the content and the size durable. After an error nobody knows what
	// is on the disk, and another call would not tell; so it never matches [ErrFull].
	Sync() error
}
