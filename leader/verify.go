package leader

import (
	"time"

	"github.com/failaware/failaware/timed"
)

// Question asks a node whether it leads.
type Question struct {
	Asked timed.Instant // the asker's clock; it names the question
}

// Answer says for how long a node leads unless it renews its lease; zero: it
// does not. Until then the node gives no vote back, even if it gives up the lead.
type Answer struct {
	Asked  timed.Instant // of the question
	Asker  timed.BootID
	Local  time.Duration // of the local lease, on the answering node's clock
	Global time.Duration // of the global lease; at most Local
}

// Assurance is what an asker may rely on, on its own clock: before Local, nobody
// but the node that answered leads with its support or with that of those who
// support it; before Global, nobody but that node leads globally. That the node
// itself goes on to lead is not assured: it may step down.
type Assurance struct {
	By            timed.Incarnation
	Asked         timed.Instant
	Local, Global timed.Instant // zero: no assurance
}

// HandleQuestion answers a question that came before now, which is when the
// clock was read.
func (e *Election) HandleQuestion(now timed.Instant, asker timed.BootID, q Question) Answer {
	a := Answer{Asked: q.Asked, Asker: asker}
	if !e.Leads(now) {
		return a
	}
	a.Local = e.expiration.Sub(now)
	if e.LeadsGlobally(now) {
		end, _ := e.LeadingGlobally()
		a.Global = end.Sub(now)
	}
	e.vouched = timed.Later(e.vouched, e.expiration)
	return a
}

// HandleAnswer takes an answer of a peer's accepted incarnation; ok is false if
// it is not to a question of this one. The question was asked before the peer
// read its clock, so what remains counts from then. An answer that comes late, or
// twice, is as true as ever.
func (e *Election) HandleAnswer(now timed.Instant, from timed.Incarnation, a Answer) (s Assurance, ok bool) {
	if a.Asker != e.cfg.Self.Boot || a.Asked > now {
		return Assurance{}, false
	}
	s = Assurance{By: from, Asked: a.Asked}
	drift := e.cfg.Timing.MaxDrift
	if a.Local > 0 {
		s.Local = a.Asked.Add(drift.Trust(a.Local))
	}
	if a.Global > 0 {
		s.Global = a.Asked.Add(drift.Trust(a.Global))
	}
	return s, true
}

// bound returns until when votes must not be given back: because view leases rest
// on them, or answers to questions.
func (e *Election) bound() timed.Instant {
	return timed.Later(e.granted, e.vouched)
}
