package broadcast

import "math/bits"

// chunk holds payloads, one behind the other: of one stream, or of messages that
// were put together from their fragments. Its memory stays where it is, and what
// has been written stays as it is, as long as anything refers to it: an entry that
// lives in it, a delivery of the turn under way, or a loan.
type chunk struct {
	buf   []byte
	refs  int
	loans int  // of refs
	open  bool // it is being filled: who fills it uses it again
}

const (
	chunkBits = 16
	// chunkSize holds any packet's messages, so that a run never spans two chunks.
	// A message of many fragments may need a larger chunk when it is put together.
	chunkSize = 1 << chunkBits
	// chunkSizes are the sizes of chunks, which are powers of two, up to the one
	// that holds LargestPayload.
	chunkSizes = 11
)

// add writes bytes behind those that are there. To slice beyond the capacity would
// panic: what is lent never moves.
func (c *chunk) add(b []byte) {
	n := len(c.buf)
	c.buf = c.buf[:n+len(b)]
	copy(c.buf[n:], b)
}

// arena keeps chunks that are free, up to some bytes: what a slow application has
// kept is not kept for good.
type arena struct {
	free  [chunkSizes][]*chunk
	spare int // bytes that are free
	most  int
}

// size returns which size of chunks holds n bytes.
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

// drop lets go of a reference.
func (a *arena) drop(c *chunk) {
	c.refs--
	a.reuse(c)
}

// reuse frees a chunk if nothing refers to it.
func (a *arena) reuse(c *chunk) {
	if c.refs > 0 || c.open || !a.makeRoom(cap(c.buf)) {
		return
	}
	c.buf = c.buf[:0]
	a.spare += cap(c.buf)
	f := &a.free[a.size(cap(c.buf))]
	*f = append(*f, c)
}

// makeRoom reports whether a chunk of a size may be kept. Larger ones that are free
// make way for it: small ones are needed all the time.
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

// room returns the chunk in which the next n bytes have their place, up to
// chunkSize, given the one that is being filled, or nil.
func (a *arena) room(c *chunk, n int) *chunk {
	if c != nil && c.refs == 0 {
		c.buf = c.buf[:0]
	}
	if c == nil || len(c.buf)+n > cap(c.buf) {
		if c != nil {
			c.open = false // it goes with its last reference, of which it has some
		}
		c = a.take(n)
		c.open = true
	}
	return c
}
