package engine

import (
	"bytes"
	"reflect"
	"runtime"
	"sort"
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

// Waited reports whether something waits for the caller on which the replica depends: it is
// [Engine.Inside], or in a call of event. Meanwhile nothing comes to the machine.
func (e *Engine) Waited() bool {
	teller := e.teller.Load()
	return teller != 0 && teller == goroutine() || e.Inside()
}

// code is where the machine code of a function lies. The function must have a //go:noinline: the
// code of an inlined one, as a profile may have it, lies in that of its callers.
type code struct {
	name       string
	begin, end uintptr
}

// performCode and readCode are the code of [Engine.perform] and [Engine.Read].
var performCode, readCode code

func init() { // these functions refer to the variables
	performCode, readCode = codeOf((*Engine).perform), codeOf((*Engine).Read)
}

// codeOf returns the code of a function. To ask which function an address is of takes longer than
// to compare it.
func codeOf(function any) code {
	const most = 1 << 24
	begin := reflect.ValueOf(function).Pointer()
	size := sort.Search(most, func(n int) bool {
		f := runtime.FuncForPC(begin + uintptr(n))
		return f == nil || f.Entry() != begin
	})
	return code{runtime.FuncForPC(begin).Name(), begin, begin + uintptr(size)}
}

// performs reports whether the calling goroutine is in perform, of any engine. Only such a
// goroutine needs its number, which takes ten times as long.
func performs() bool { return performCode.calls() > 0 }

// readsTwice reports whether a call of Read is within another, of any engine: which one it is of
// cannot be told.
func readsTwice() bool { return readCode.calls() > 1 }

// calls returns how many calls of the function the calling goroutine is in.
func (c code) calls() (calls int) {
	var room [64]uintptr
	stack := room[:]
	n := runtime.Callers(1, stack)
	for n == len(stack) { // there may be more
		stack = make([]uintptr, 2*n)
		n = runtime.Callers(1, stack)
	}
	for _, pc := range stack[:n] { // where a call returns to, maybe one that is inlined
		if c.begin < pc && pc <= c.end && runtime.FuncForPC(pc-1).Name() == c.name {
			calls++
		}
	}
	return calls
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
