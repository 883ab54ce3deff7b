package replica

import (
	"bufio"
	"crypto/sha256"
	"hash"
	"io"
)

// Bytes keeps the bytes of one snapshot, in memory or in a file.
type Bytes interface {
	// ReadAt returns io.EOF only at the end of the appended bytes.
	io.ReaderAt
	// Append adds bytes at the end, or none if it returns an error. Another call may succeed,
	// unless the error is a [*BrokenError].
	Append(p []byte) error
	// Discard frees the room. The bytes are not used any more.
	Discard()
}

// BrokenError says that Bytes take nothing any more.
type BrokenError struct{ Err error }

func (e *BrokenError) Error() string { return e.Err.Error() }

func (e *BrokenError) Unwrap() error { return e.Err }

// Memory is Bytes in memory.
type Memory []byte

// Append implements [Bytes].
func (m *Memory) Append(p []byte) error {
	*m = append(*m, p...)
	return nil
}

// Discard implements [Bytes].
func (m *Memory) Discard() { *m = nil }

// ReadAt implements [io.ReaderAt].
func (m *Memory) ReadAt(p []byte, off int64) (n int, err error) {
	if n = copy(p, (*m)[min(off, int64(len(*m))):]); n < len(p) {
		err = io.EOF
	}
	return n, err
}

// Content is a snapshot, or the part of one that is here. It is written by one goroutine,
// and can then be read by several.
type Content struct {
	bytes Bytes
	size  uint64
	sum   hash.Hash

	blocks []block
	cutter cutter
	named  []int // the blocks in the order of their names, made by the first read

	// Received says that the snapshot came from others, so that nobody reads it but the
	// application.
	Received bool
}

// NewContent returns an empty snapshot.
func (c *Config) NewContent() *Content { return c.contentOf(c.NewBytes()) }

func (c *Config) contentOf(b Bytes) *Content {
	return &Content{bytes: b, sum: sha256.New(), cutter: cutter{size: c.BlockBytes}}
}

// newPart returns the empty beginning of a snapshot that comes from others.
func (c *Config) newPart() *Content {
	part := c.contentOf(c.NewPart())
	part.Received = true
	return part
}

// ReadPart returns the part of a snapshot that an earlier process has received, as a spare. It
// reads all of it, so that what has been damaged since is not taken for what came.
func (c *Config) ReadPart(b Bytes, size int64) (*Content, error) {
	d := c.WithDefaults()
	part := d.contentOf(b)
	_, err := io.Copy(blocks{part}, io.NewSectionReader(b, 0, size))
	return part, err
}

// blocks cuts bytes that a Content has.
type blocks struct{ *Content }

// Write implements [io.Writer].
func (n blocks) Write(p []byte) (int, error) {
	n.cut(p)
	return len(p), nil
}

// Write implements [io.Writer].
func (c *Content) Write(p []byte) (int, error) {
	if err := c.bytes.Append(p); err != nil {
		return 0, err
	}
	c.sum.Write(p)
	c.cut(p)
	return len(p), nil
}

// cut cuts bytes that were appended into blocks.
func (c *Content) cut(p []byte) {
	for at := 0; at < len(p); {
		n, id, ends := c.cutter.cut(p[at:])
		at += n
		if c.size += uint64(n); ends {
			c.blocks = append(c.blocks, block{id, c.size})
		}
	}
}

// Discard frees the room of a snapshot that nobody uses any more.
func (c *Content) Discard() { c.bytes.Discard() }

// Digest returns the digest of the bytes.
func (c *Content) Digest() (d Digest) {
	copy(d[:], c.sum.Sum(nil))
	return d
}

// readerBytes is the size of the reads of a Content.
const readerBytes = 64 << 10

// Reader returns a reader of all bytes.
func (c *Content) Reader() *Reader {
	return &Reader{r: bufio.NewReaderSize(io.NewSectionReader(c.bytes, 0, int64(c.size)), readerBytes)}
}

// A Reader reads a Content, and keeps the first error: an application may take an error for
// the end.
type Reader struct {
	r   *bufio.Reader
	err error
}

// Read implements [io.Reader].
func (r *Reader) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	if err != nil && err != io.EOF {
		r.err = err
	}
	return n, err
}

// Err returns the error of a read, or nil.
func (r *Reader) Err() error { return r.err }

// Piece is a part of a snapshot that travels in one message.
type Piece struct {
	from   *Content
	offset uint64
	size   int
}

// Message returns the payload of a Broadcast, followed by its piece of a snapshot. The error
// is that of the Bytes.
func (e *Effect) Message() ([]byte, error) {
	p := e.Piece
	if p == nil {
		return e.Payload, nil
	}
	b := append(make([]byte, 0, len(e.Payload)+p.size), e.Payload...)
	b = b[:len(e.Payload)+p.size]
	_, err := io.ReadFull(io.NewSectionReader(p.from.bytes, int64(p.offset), int64(p.size)), b[len(e.Payload):])
	return b, err
}
