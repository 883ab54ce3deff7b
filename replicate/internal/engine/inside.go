package engine

import (
	"bytes"
	"reflect"
	"runtime"
	"slices"
	"strconv"
)

// enter begins a call of the application, and leave ends it. What the engine does before and
// after it, such as to wait for the disk, is no part of it.
func (e *Engine) enter() { e.calling.Store(int64(e.now()) + 1) }
func (e *Engine) leave() { e.calling.Store(0) }

// Inside reports whether the caller is a call of the application, or called by one. What
// waits for later calls would then wait for ever. It takes about a microsecond, and nothing
// while the application is not being called.
func (e *Engine) Inside() bool {
	return e.calling.Load() != 0 && performs() && e.caller.Load() == goroutine()
}

// performCode is where the code of [Engine.perform] begins.
var performCode = reflect.ValueOf((*Engine).perform).Pointer()

// mostCode is how long the code of perform is at most. To ask which function has an address
// takes longer than this.
const mostCode = 1 << 12

// performs reports whether the calling goroutine is in perform, of any engine. Only such a
// goroutine needs its number, which takes ten times as long.
func performs() bool {
	var room [64]uintptr
	stack := room[:]
	n := runtime.Callers(1, stack)
	for n == len(stack) { // there may be more
		stack = make([]uintptr, 2*n)
		n = runtime.Callers(1, stack)
	}
	return slices.ContainsFunc(stack[:n], func(pc uintptr) bool {
		return pc-performCode < mostCode && runtime.FuncForPC(pc-1).Entry() == performCode
	})
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
