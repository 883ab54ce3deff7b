package sim

import (
	"fmt"
	"runtime/debug"
)

// panicCheck is the name of a violation that is a panic.
const panicCheck = "panic"

// recoverPanic makes a panic a violation, which has the seed. Callers defer it.
func (w *World) recoverPanic() {
	r := recover()
	if r == nil {
		return
	}
	v := &Violation{Seed: w.seed, Check: panicCheck, At: w.Time(), Detail: fmt.Sprint(r), Stack: string(debug.Stack())}
	if w.app.at != nil {
		v.Node = w.app.at.proc.ID
	}
	w.failed = v
}
