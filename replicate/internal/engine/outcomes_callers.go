package engine

import (
	"github.com/failaware/failaware"
	"github.com/failaware/failaware/broadcast"
)

// Wait returns a wait for a message that the caller is about to broadcast. at, if not nil, is
// called with a verdict at its place among the calls of the application.
func (o *Outcomes) Wait(at func(Verdict)) *Wait {
	w, _ := o.idle.Get().(*Wait)
	if w == nil {
		w = &Wait{Given: make(chan struct{}, 1)}
		w.Queued = func(id broadcast.ID) { o.await(id, w) }
	}
	w.at = at
	return w
}

func (o *Outcomes) await(id broadcast.ID, w *Wait) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.over {
		w.give(&Verdict{Unknown: failaware.NodeStopped})
		return
	}
	if o.waits == nil {
		o.waits = map[broadcast.ID]*Wait{}
	}
	o.waits[id] = w
}

// Over ends a wait that has not begun, whose verdict was given, or that Forget has ended.
func (o *Outcomes) Over(w *Wait) {
	w.at, w.Verdict = nil, Verdict{}
	o.idle.Put(w)
}

// Forget ends a caller's wait. It reports whether no verdict has been, or is being,
// given.
func (o *Outcomes) Forget(id broadcast.ID) bool {
	o.atMu.Lock()
	defer o.atMu.Unlock()
	o.mu.Lock()
	defer o.mu.Unlock()
	_, ok := o.waits[id]
	delete(o.waits, id)
	return ok
}
