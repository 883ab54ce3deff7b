package main

import (
	"encoding/binary"
	"io"
	"sync"
)

// pipeRoom is at least the capacity of a pipe, in bytes.
const pipeRoom = 64 << 10

// hearing is the input of a guard that it has not taken yet. A goroutine reads it as it
// comes. That goroutine may run late, so the guard looks into the pipe before it takes.
type hearing struct {
	more chan struct{} // has room for one: something has come, or the end

	mu    sync.Mutex
	bytes []byte // not taken
	room  []byte // to read into
	gone  bool   // nobody can tell more
	look  func() // reads the pipe without waiting; nil: the system cannot
}

func newHearing() *hearing {
	return &hearing{more: make(chan struct{}, 1), room: make([]byte, pipeRoom)}
}

// add adds bytes that were read, with the error of reading.
func (h *hearing) add(b []byte, err error) {
	h.bytes = append(h.bytes, b...)
	h.gone = h.gone || err != nil
	select {
	case h.more <- struct{}{}:
	default:
	}
}

// follow hears a reader of which nobody knows whether something waits there.
func (h *hearing) follow(r io.Reader) {
	var b [toldSize]byte
	for {
		n, err := r.Read(b[:])
		h.mu.Lock()
		h.add(b[:n], err)
		h.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// take returns all that has come, and whether that is the end.
func (h *hearing) take() (news []told, gone bool) {
	if h.look != nil {
		h.look()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for ; len(h.bytes) >= toldSize; h.bytes = h.bytes[toldSize:] {
		news = append(news, told{h.bytes[0], binary.BigEndian.Uint64(h.bytes[1:])})
	}
	return news, h.gone
}
