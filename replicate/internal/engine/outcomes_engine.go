package engine

import (
	"slices"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/timed"
)

// reach calls what stands at the place of a message among the calls of the application. It
// returns the number of the last call of Sending: whoever still waits for the message has begun
// by then.
func (o *Outcomes) reach(m *broadcast.Delivery, v Verdict) (calls uint64) {
	o.atMu.Lock()
	defer o.atMu.Unlock()
	o.mu.Lock()
	w, calls := o.waits[m.ID], o.calls
	o.mu.Unlock()
	if w == nil || w.at == nil {
		return calls
	}
	v.Message = *m
	v.Message.Payload = nil
	w.at(v)
	return calls
}

// awaited returns those of the verdicts for which somebody waits, or will once the message has
// its id.
func (o *Outcomes) awaited(hs []held) []held {
	o.mu.Lock()
	defer o.mu.Unlock()
	oldest := o.oldest()
	return slices.DeleteFunc(hs, func(h held) bool { return o.waits[h.delivery.ID] == nil && h.calls < oldest })
}

// resolve gives the verdict on one message.
func (o *Outcomes) resolve(m *broadcast.Delivery, v Verdict) {
	v.Message = *m
	v.Message.Payload = nil
	o.mu.Lock()
	w := o.waits[m.ID]
	if w == nil {
		o.keep(notice{id: m.ID, from: m.Sequence, Verdict: v})
	}
	delete(o.waits, m.ID)
	o.mu.Unlock()
	if w == nil {
		return
	}
	w.Verdict <- v
}

// lose says that another branch of the group ordered the messages of a class from a
// sequence through id.
func (o *Outcomes) lose(id broadcast.ID, from uint64) {
	o.tell(notice{id: id, from: from, Verdict: Verdict{Unknown: failaware.OrderedElsewhere}})
}

// restart says that there is another incarnation.
func (o *Outcomes) restart(boot timed.BootID) {
	o.tell(notice{boot: boot, Verdict: Verdict{Unknown: failaware.IncarnationEnded}})
}

func (o *Outcomes) tell(n notice) {
	o.atMu.Lock()
	defer o.atMu.Unlock()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.keep(n)
	for id, w := range o.waits {
		if n.about(id) {
			delete(o.waits, id)
			w.Verdict <- n.Verdict
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
		w.Verdict <- Verdict{Unknown: failaware.NodeStopped}
	}
}
