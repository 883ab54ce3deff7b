package engine

import (
	"slices"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/timed"
)

// placed reports whether something stands at the place of a message among the calls of the
// application.
func (o *Outcomes) placed(id broadcast.ID) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	w := o.waits[id]
	return w != nil && w.at != nil
}

// reach calls what stands at the place of a message among the calls of the application, unless
// the caller has forgotten it.
func (o *Outcomes) reach(v *Verdict) {
	o.atMu.Lock()
	defer o.atMu.Unlock()
	o.mu.Lock()
	w := o.waits[v.Message.ID]
	o.mu.Unlock()
	if w != nil {
		w.at(*v)
	}
}

// awaited returns those of the verdicts for which somebody waits.
func (o *Outcomes) awaited(hs []held) []held {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.DeleteFunc(hs, func(h held) bool { return o.waits[h.Message.ID] == nil })
}

// resolve gives the verdict on one message.
func (o *Outcomes) resolve(v *Verdict) {
	o.mu.Lock()
	w := o.waits[v.Message.ID]
	delete(o.waits, v.Message.ID)
	o.mu.Unlock()
	if w != nil {
		w.give(v)
	}
}

// lose says that another branch of the group ordered the messages of a class from a
// sequence through id.
func (o *Outcomes) lose(id broadcast.ID, from uint64) {
	o.end(lost{id: id, from: from}, failaware.OrderedElsewhere)
}

// restart says that there is another incarnation.
func (o *Outcomes) restart(boot timed.BootID) {
	o.end(lost{boot: boot}, failaware.IncarnationEnded)
}

// end ends the waits for messages that are lost.
func (o *Outcomes) end(l lost, why failaware.UnknownReason) {
	o.atMu.Lock()
	defer o.atMu.Unlock()
	o.mu.Lock()
	defer o.mu.Unlock()
	for id, w := range o.waits {
		if l.has(id) {
			delete(o.waits, id)
			w.give(&Verdict{Unknown: why})
		}
	}
}

// End ends all waits: the node has stopped.
func (o *Outcomes) End() {
	o.atMu.Lock()
	defer o.atMu.Unlock()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.over = true
	for id, w := range o.waits {
		delete(o.waits, id)
		w.give(&Verdict{Unknown: failaware.NodeStopped})
	}
}
