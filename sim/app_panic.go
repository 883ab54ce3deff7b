package sim

import (
	"fmt"
	"runtime/debug"
	"strings"
)

// panicCheck is the name of a violation that is a panic.
const panicCheck = "panic"

// misuse is the panic of a call that no run may make: it is a mistake of the test, whatever the
// seed is.
type misuse string

// exited is the detail of a run whose goroutine the application has ended.
const exited = "the application ended its goroutine, as t.FailNow does: return an error from an invariant, or panic"

// guard calls f, which calls the application, and makes a panic a violation, which has the seed. So
// it does if the application ends the goroutine (runtime.Goexit). Contained, that is a goroutine of
// its own, and the caller goes on; otherwise it is the caller's.
func (w *World) guard(f func()) {
	if !w.opt.contained {
		w.guarded(f)
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.guarded(f)
	}()
	<-done
}

func (w *World) guarded(f func()) {
	returned := false
	defer func() {
		if r := recover(); r != nil || !returned {
			w.fail(r)
		}
	}()
	f()
	returned = true
}

// fail ends the run with what recover returned: nil if the goroutine ends.
func (w *World) fail(r any) {
	v := &Violation{Seed: w.seed, Check: panicCheck, At: w.Time(), Detail: fmt.Sprint(r)}
	stack := string(debug.Stack())
	v.Stack = ownFrames(stack)
	if _, v.misuse = r.(misuse); v.Stack == "" && !v.misuse {
		v.Stack = stack // the fault is the simulator's
	}
	if r == nil {
		v.Detail, v.exited = exited, true
	}
	if w.app.at != nil {
		v.Node = w.app.at.proc.ID
	}
	w.failed = v
}

// ownFrames leaves the frames of the simulator, the runtime and package testing out of a stack: what
// is left is the application's.
func ownFrames(stack string) string {
	lines := strings.Split(strings.TrimSuffix(stack, "\n"), "\n")
	var own []string
	for i := 1; i+1 < len(lines); i += 2 {
		if call, at := lines[i], lines[i+1]; !strings.HasPrefix(call, "created by ") && !foreignFrame(call, at) {
			own = append(own, call, at)
		}
	}
	return strings.Join(own, "\n")
}

// foreignFrame reports whether a call, whose line is at a place, is none of the application's.
func foreignFrame(call, at string) bool {
	if strings.HasPrefix(call, "github.com/failaware/failaware/sim.") {
		return !strings.Contains(at, "_test.go:")
	}
	for _, p := range []string{"panic(", "runtime.", "runtime/", "testing.", "testing/"} {
		if strings.HasPrefix(call, p) {
			return true
		}
	}
	return false
}
