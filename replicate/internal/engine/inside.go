package engine

import (
	"bytes"
	"runtime"
	"strconv"
)

// enter begins a call of the application, and leave ends it. What the engine does before and
// after it, such as to wait for the disk, is no part of it.
func (e *Engine) enter() { e.calling.Store(int64(e.now()) + 1) }
func (e *Engine) leave() { e.calling.Store(0) }

// Inside reports whether the caller is a call of the application, or called by one. What
// waits for later calls would then wait for ever. It takes a microsecond, and nothing while
// the application is not being called.
func (e *Engine) Inside() bool {
	return e.calling.Load() != 0 && e.caller.Load() == goroutine()
}

// goroutine returns the number of the calling goroutine. The language has no other way to
// notice that a call comes from within itself.
func goroutine() uint64 {
	var buf [64]byte
	text := bytes.TrimPrefix(buf[:runtime.Stack(buf[:], false)], []byte("goroutine "))
	number, _, _ := bytes.Cut(text, []byte(" "))
	n, _ := strconv.ParseUint(string(number), 10, 64)
	return n
}
