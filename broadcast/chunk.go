package broadcast

import "math/bits"

// chunk holds payloads, one behind the other: those of one stream, or of messages that
// were joined from fragments. Its memory neither moves nor changes while anything refers
// to it: an entry in it, a delivery of the present turn, or a loan.
type chunk struct {
	buf   []byte
	refs  int
	loans int  // of refs
	open  bool // it is being filled, and must not be reused by others
}

const (
	chunkBits = 16
	// chunkSize is enough for the messages of any packet, so that a run never spans
	// two chunks. A message joined from many fragments may need a larger chunk.
	chunkSize = 1 << chunkBits
	// chunkSizes is the number of sizes of chunks: the powers of two from chunkSize
	// up to one that holds LargestPayload.
	chunkSizes = 11
)

// add appends bytes. Slicing beyond the capacity would panic, because lent memory never
// moves.
func (c *chunk) add(b []byte) {
	n := len(c.buf)
	c.buf = c.buf[:n+len(b)]
	copy(c.buf[n:], b)
}

// arena keeps free chunks, up to a limit, so that the memory that a slow application has
// used is given back.
type arena struct {
	free  [chunkSizes][]*chunk
	spare int // bytes of the free chunks
	most  int // limit of spare
}

// size returns the index of the smallest chunk size that holds n bytes.
func (*arena) size(n int) int { return bits.Len(uint(max(n, chunkSize)-1)) - chunkBits }

// take returns an empty chunk for at least n bytes.
func (a *arena) take(n int) *chunk {
	f := &a.free[a.size(n)]
	if k := len(*f); k > 0 {
		c := (*f)[k-1]
		(*f)[k-1] = nil
		*f = (*f)[:k-1]
		a.spare -= cap(c.buf)
		return c
	}
	return &chunk{buf: make([]byte, 0, chunkSize<<a.size(n))}
}

// drop drops a reference.
func (a *arena) drop(c *chunk) {
	c.refs--
	a.reuse(c)
}

// reuse frees a chunk that nothing refers to.
func (a *arena) reuse(c *chunk) {
	if c.refs > 0 || c.open || !a.makeRoom(cap(c.buf)) {
		return
	}
	c.buf = c.buf[:0]
	a.spare += cap(c.buf)
	f := &a.free[a.size(cap(c.buf))]
	*f = append(*f, c)
}

// makeRoom reports whether a free chunk of a size may be kept. It drops larger free
// chunks first, because small ones are used all the time.
func (a *arena) makeRoom(size int) bool {
	for k := len(a.free) - 1; a.spare+size > a.most; {
		f := &a.free[k]
		if chunkSize<<k <= size {
			return false
		}
		if len(*f) == 0 {
			k--
			continue
		}
		a.spare -= chunkSize << k
		(*f)[len(*f)-1] = nil
		*f = (*f)[:len(*f)-1]
	}
	return true
}

// room returns the chunk for the next n bytes, at most chunkSize, given the chunk that is
// being filled, or nil.
func (a *arena) room(c *chunk, n int) *chunk {
	if c != nil && c.refs == 0 {
		c.buf = c.buf[:0]
	}
	if c == nil || len(c.buf)+n > cap(c.buf) {
		if c != nil {
			c.open = false // it has references, and is freed with the last one
		}
		c = a.take(n)
		c.open = true
	}
	return c
}
