package engine

import (
	"slices"
	"sync"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/timed"
)

// Outcomes bring the outcomes of own operations and barriers to the callers that
// wait for them. Callers run the code of outcomes_callers.go, and the engine that of
// outcomes_engine.go.
type Outcomes struct {
	atMu    sync.Mutex // held while a caller's function runs, which ends before its wait
	mu      sync.Mutex
	over    bool
	calls   uint64              // of Sending
	sending map[uint64]struct{} // calls that broadcast a message whose id is not known yet
	waits   map[broadcast.ID]*Wait
	idle    sync.Pool // of waits that are over: a channel of verdicts is large
	early   []notice  // that came while a caller was sending, and for which nobody waited
}

// Wait is a caller's wait for a verdict. [Outcomes.Over] ends it.
type Wait struct {
	// Verdict gets the verdict. It has room for one.
	Verdict chan Verdict
	at      func(Verdict)
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

// notice is a verdict on one message, on a range of those of an incarnation, or on
// all of other incarnations.
type notice struct {
	id   broadcast.ID
	from uint64       // the first sequence of the range
	boot timed.BootID // all except those of this one, if it is not 0
	at   uint64       // the last call of Sending by then
	Verdict
}

func (n *notice) about(id broadcast.ID) bool {
	if n.boot != 0 {
		return id.Boot != n.boot
	}
	return id.Boot == n.id.Boot && id.Class == n.id.Class && n.from <= id.Sequence && id.Sequence <= n.id.Sequence
}

// keep keeps a notice for callers that are sending. The caller holds mu.
func (o *Outcomes) keep(n notice) {
	if len(o.sending) > 0 {
		n.at = o.calls
		o.early = append(o.early, n)
	}
}

// prune drops notices that came before any of those that are sending began: with
// many callers, there may always be one that sends. The caller holds mu.
func (o *Outcomes) prune() {
	if len(o.early) == 0 {
		return
	}
	oldest, k := o.oldest(), 0
	for k < len(o.early) && o.early[k].at < oldest {
		k++
	}
	o.early = slices.Delete(o.early, 0, k)
}

// oldest returns the first of the calls of Sending that are still going on, or the next one. The
// caller holds mu.
func (o *Outcomes) oldest() uint64 {
	oldest := o.calls + 1
	for call := range o.sending {
		oldest = min(oldest, call)
	}
	return oldest
}
