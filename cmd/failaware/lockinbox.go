package main

import (
	"encoding/binary"
	"io"
	"sync"
)

// pipeRoom is at least the capacity of a pipe, in bytes.
const pipeRoom = 64 << 10

// inbox holds the messages that a guard has not taken yet. A goroutine reads them as they
// arrive. It may run late, so take reads the pipe itself first.
type inbox struct {
	ready chan struct{} // of capacity 1: signals input, or its end

	mu       sync.Mutex
	unread   []byte // not taken
	buffer   []byte // to read into
	closed   bool   // the input has ended
	readPipe func() // reads the pipe without blocking; nil if the system cannot
}

func newInbox() *inbox {
	return &inbox{ready: make(chan struct{}, 1), buffer: make([]byte, pipeRoom)}
}

// add adds the result of a read. The caller holds mu.
func (in *inbox) add(b []byte, err error) {
	in.unread = append(in.unread, b...)
	in.closed = in.closed || err != nil
	select {
	case in.ready <- struct{}{}:
	default:
	}
}

// readFrom reads r, which may block, until its end.
func (in *inbox) readFrom(r io.Reader) {
	var b [messageSize]byte
	for {
		n, err := r.Read(b[:])
		in.mu.Lock()
		in.add(b[:n], err)
		in.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// take removes and returns the messages that have arrived, and reports whether the input
// has ended.
func (in *inbox) take() (messages []guardMessage, closed bool) {
	if in.readPipe != nil {
		in.readPipe()
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	for ; len(in.unread) >= messageSize; in.unread = in.unread[messageSize:] {
		messages = append(messages, guardMessage{in.unread[0], binary.BigEndian.Uint64(in.unread[1:])})
	}
	return messages, in.closed
}
