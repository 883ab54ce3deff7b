package loop

import (
	"slices"

	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/timed"
)

// Assurance is the answer of a node to the question whether it leads: nobody but By
// leads before Local, in its logical partition, or before Global in the group.
type Assurance struct {
	By            timed.Incarnation
	Local, Global timed.Instant // 0: not assured
	Basis         Basis
}

// question is one caller's wait for a peer's answer.
type question struct {
	peer   timed.NodeID
	since  timed.Instant
	result chan Assurance // room for one
}

// questions holds the questions that wait for an answer.
type questions []question

func (q questions) has(result chan Assurance) bool {
	return slices.ContainsFunc(q, func(x question) bool { return x.result == result })
}

// remove forgets a caller that no longer waits.
func (q *questions) remove(result chan Assurance) {
	*q = slices.DeleteFunc(*q, func(x question) bool { return x.result == result })
}

// restart forgets when the questions were asked, because that clock is no longer trusted.
func (q questions) restart(now timed.Instant) {
	for i := range q {
		q[i].since = now
	}
}

// askPeer asks a peer whether it leads, for a caller.
func (d *driver) askPeer(peer timed.NodeID, result chan Assurance) {
	if d.stack == nil {
		return // a new incarnation is about to begin
	}
	if peer == d.cfg.Self.Node {
		a := d.stack.Vouch(d.clock.now)
		d.assure(result, &a)
		return
	}
	if !d.routes.known.Has(peer) {
		return // it may become known
	}
	if !d.asked.has(result) {
		d.asked = append(d.asked, question{peer, d.clock.now, result})
	}
	d.perform(d.stack.Verify(d.clock.now, peer, d.effects[:0]))
}

// answer hands a peer's answer to the callers that wait for it. An answer to an
// earlier question is true, but it may be older than they accept.
func (d *driver) answer(a *leader.Assurance) {
	for _, q := range d.asked {
		if q.peer == a.By.Node && a.Asked >= q.since {
			d.assure(q.result, a)
		}
	}
}

// assure hands an answer to a caller, unless it has one already.
func (d *driver) assure(result chan Assurance, a *leader.Assurance) {
	select {
	case result <- Assurance{By: a.By, Local: a.Local, Global: a.Global, Basis: d.basis()}:
	default:
	}
}
