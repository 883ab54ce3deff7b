package sim

import (
	"fmt"
	"runtime/debug"
)

// panicCheck is the name of a violation that is a panic.
const panicCheck = "panic"

// caught makes a panic a violation: without the seed it would be of little use.
// It is to be deferred.
func (w *World) caught() {
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
