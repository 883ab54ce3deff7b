package engine

import (
	"github.com/failaware/failaware"
	"github.com/failaware/failaware/broadcast"
)

// Sending must be called before a message is broadcast for whose verdict the caller
// will wait. It returns a number for [Outcomes.Sent].
func (o *Outcomes) Sending() uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.sending == nil {
		o.sending = map[uint64]struct{}{}
	}
	o.calls++
	o.sending[o.calls] = struct{}{}
	return o.calls
}

// Sent must be called when the message has its id, or failed to get one; it then
// returns nil. The verdict may have come already. at, if not nil, is called with a
// verdict at its place among the calls of the application.
func (o *Outcomes) Sent(call uint64, id broadcast.ID, err error, at func(Verdict)) *Wait {
	o.mu.Lock()
	defer o.mu.Unlock()
	defer o.prune()
	delete(o.sending, call)
	if err != nil {
		return nil
	}
	w, _ := o.idle.Get().(*Wait)
	if w == nil {
		w = &Wait{Verdict: make(chan Verdict, 1)}
	}
	w.at = at
	if o.over {
		w.Verdict <- Verdict{Unknown: failaware.NodeStopped}
		return w
	}
	for i := range o.early {
		if n := &o.early[i]; n.at >= call && n.about(id) {
			w.Verdict <- n.Verdict
			return w
		}
	}
	if o.waits == nil {
		o.waits = map[broadcast.ID]*Wait{}
	}
	o.waits[id] = w
	return w
}

// Over ends a wait whose verdict the caller has taken, or that Forget has ended.
func (o *Outcomes) Over(w *Wait) {
	w.at = nil
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
