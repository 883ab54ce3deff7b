package leader

import (
	"time"

	"github.com/failaware/failaware/timed"
)

// Question asks a node whether it leads.
type Question struct {
	Asked timed.Instant // the asker's clock; it identifies the question
}

// Answer says how long a node leads without renewing its lease; zero means that it
// does not lead. Until then the node gives no vote back, even if it gives up the
// lead.
type Answer struct {
	Asked  timed.Instant // of the question
	Asker  timed.BootID  // the asker's incarnation
	Local  time.Duration // of the local lease, on the answering node's clock
	Global time.Duration // of the global lease; at most Local
}

// Assurance is the time for which an asker may rely on an answer, on its own clock.
// Before Local, no node other than By leads with the support of By or of its
// supporters. Before Global, no node other than By leads globally. By itself may step
// down at any time.
type Assurance struct {
	By            timed.Incarnation // the node that answered
	Asked         timed.Instant
	Local, Global timed.Instant // zero: no assurance
}

// HandleQuestion takes a question that came before now. Its effect is SendAnswer.
func (e *Election) HandleQuestion(now timed.Instant, from timed.Incarnation, q Question, out []Effect) []Effect {
	return append(out, Effect{Kind: SendAnswer, Peer: from.Node, Answer: e.answer(now, from.Boot, q)})
}

// answer answers a question and keeps the votes until the end of the answer.
func (e *Election) answer(now timed.Instant, asker timed.BootID, q Question) Answer {
	a := Answer{Asked: q.Asked, Asker: asker}
	if !e.Leads(now) {
		return a
	}
	a.Local = e.expiration.Sub(now)
	if e.LeadsGlobally(now) {
		end, _ := e.LeadingGlobally()
		a.Global = end.Sub(now)
	}
	e.answersUntil = timed.Later(e.answersUntil, e.expiration)
	return a
}

// HandleAnswer takes an answer of a peer's accepted incarnation. Its effect is
// Verified, unless the question was another incarnation's. An answer that comes late
// or twice stays true.
func (e *Election) HandleAnswer(now timed.Instant, from timed.Incarnation, a Answer, out []Effect) []Effect {
	if s, ok := e.assurance(now, from, a); ok {
		return append(out, Effect{Kind: Verified, Peer: from.Node, Assurance: s})
	}
	return out
}

// Vouch answers the node's own question at now, and keeps the votes for that answer
// as for those to others.
func (e *Election) Vouch(now timed.Instant) Assurance {
	s, _ := e.assurance(now, e.cfg.Self, e.answer(now, e.cfg.Self.Boot, Question{Asked: now}))
	return s
}

// assurance returns the assurance of an answer; ok is false if it does not answer a
// question of this incarnation. The question was asked before the peer read its clock,
// so the rest of its lease counts from the question.
func (e *Election) assurance(now timed.Instant, from timed.Incarnation, a Answer) (s Assurance, ok bool) {
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

// bound returns the instant until which votes must not be given back, because view
// leases or answers to questions rest on them.
func (e *Election) bound() timed.Instant {
	return timed.Later(timed.Later(e.granted, e.answersUntil), e.inheritedUntil)
}
