package engine

import (
	"sync"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/timed"
)

// Outcomes bring the outcomes of own operations and barriers to the callers that
// wait for them. Callers run the code of outcomes_callers.go, and the engine that of
// outcomes_engine.go.
type Outcomes struct {
	atMu  sync.Mutex // held while a caller's function runs, which ends before its wait
	mu    sync.Mutex
	over  bool
	waits map[broadcast.ID]*Wait
	idle  sync.Pool // of waits that are over
}

// Wait is a caller's wait for the verdict on its message. [Outcomes.Over] ends it.
type Wait struct {
	// Queued begins the wait. It must be called with the id of the message before that can
	// be delivered.
	Queued func(broadcast.ID)
	// Given gets an item when Verdict has the verdict. It has room for one.
	Given   chan struct{}
	Verdict Verdict

	at func(Verdict)
}

// give gives the verdict to the caller.
func (w *Wait) give(v *Verdict) {
	w.Verdict = *v
	w.Given <- struct{}{}
}

// Verdict is the outcome of an operation or a barrier.
type Verdict struct {
	Message broadcast.Delivery // without its payload
	Unknown failaware.UnknownReason
	Result  any // of Apply
	// Lasting says that the state as it was then is part of that of all later quorums.
	Lasting bool
	// Restores is how often the state was replaced by that of others before.
	Restores uint64
}

// NotAppliedHere is why the outcome of an operation is unknown that was delivered
// while this node had no state.
const NotAppliedHere failaware.UnknownReason = "it was delivered while this node waited for the state of others"

// lost is messages without an outcome: a range of those of an incarnation, or all of
// other incarnations.
type lost struct {
	id   broadcast.ID // the last of a range
	from uint64       // the first sequence of the range
	boot timed.BootID // all except those of this one, if it is not 0
}

func (l *lost) has(id broadcast.ID) bool {
	if l.boot != 0 {
		return id.Boot != l.boot
	}
	return id.Boot == l.id.Boot && id.Class == l.id.Class && l.from <= id.Sequence && id.Sequence <= l.id.Sequence
}
