package sim

import (
	"fmt"
	"time"

	"github.com/failaware/failaware/timed"
)

// Violation is a broken promise.
type Violation struct {
	Seed   uint64
	Check  string        // the name of the promise: "SO", "M4", …
	Node   timed.NodeID  // the node at which it showed; 0: the whole world
	At     time.Duration // true time since the start of the run
	Detail string
	Stack  string // of the application, of a panic

	misuse, exited bool // see [misuse] and [exited]
}

func (v *Violation) Error() string {
	what, where := v.Check+" broken", ""
	if v.Check == panicCheck {
		what = v.Check
	}
	if v.Node != 0 {
		where = fmt.Sprintf(" at node %d", v.Node)
	}
	s := fmt.Sprintf("seed %d: %s%s after %v: %s", v.Seed, what, where, v.At, v.Detail)
	if v.Stack != "" {
		s += "\n" + v.Stack
	}
	return s
}

// violated ends the run with a broken promise, if none was broken before.
func (w *World) violated(check string, node timed.NodeID, detail string) {
	if w.failed == nil && !w.opt.Bare {
		w.failed = &Violation{Seed: w.seed, Check: check, Node: node, At: w.Time(), Detail: detail}
	}
}
