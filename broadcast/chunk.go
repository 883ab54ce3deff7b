package broadcast

// chunk holds payloads of one stream, one after the other. It is used again once
// the last entry that lives in it is gone.
type chunk struct {
	buf  []byte
	refs int
}

// chunkSize holds any packet's messages, so that a run never spans two chunks.
const chunkSize = 1 << 16

// arena keeps chunks that are free. They are as many as the window ever needed.
type arena struct{ free []*chunk }

func (a *arena) take() *chunk {
	if k := len(a.free); k > 0 {
		c := a.free[k-1]
		a.free = a.free[:k-1]
		return c
	}
	return &chunk{buf: make([]byte, 0, chunkSize)}
}

func (a *arena) give(c *chunk) {
	c.buf, c.refs = c.buf[:0], 0
	a.free = append(a.free, c)
}
