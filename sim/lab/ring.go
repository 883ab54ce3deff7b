package lab

import (
	"time"

	"github.com/failaware/failaware/timed"
)

// Suppression is how a ring saves the messages of several initiators.
type Suppression uint8

const (
	// ByParticipant: a process that already takes part drops candidates worse than
	// itself (Chang and Roberts, and the Edinburgh lecture).
	ByParticipant Suppression = iota
	// ByInitiator: messages name their initiator, and a process drops the messages of
	// initiators below the highest one that it knows (the Illinois lecture).
	ByInitiator
)

// Repair determines the processes that begin again after a failure.
type Repair uint8

const (
	// NoRepair: none; the ring always has all members.
	NoRepair Repair = iota
	// ByPredecessor: the leader's predecessor in the ring, when it suspects the leader,
	// and processes that forwarded an election and get no result.
	ByPredecessor
	// ByDetector: every process that suspects its leader, and processes that get no result.
	ByDetector
)

// Ring is the election of Chang and Roberts: the messages go around a ring in the
// order of the ids, each process replaces candidates worse than itself, and the one whose own
// message comes back has won.
type Ring struct {
	Self     timed.NodeID
	Ranking  *Ranking
	Suppress Suppression
	Repair   Repair
	// Result is the time that a participating process waits for the result.
	// Initiate calls for an election at the start of a process.
	Result   time.Duration
	Initiate bool

	participant bool
	elected     timed.NodeID
	initiator   timed.NodeID // the highest whose election is under way
	until       timed.Instant
}

// MaxRounds bounds how often a message goes around: one that names a crashed process would
// otherwise circulate forever.
const MaxRounds = 3

// NewRing returns a ring election whose processes take part from their start.
func NewRing(self timed.NodeID, r *Ranking, s Suppression, repair Repair, p Pace) *Ring {
	n := time.Duration(r.Members.Len())
	return &Ring{Self: self, Ranking: r, Suppress: s, Repair: repair, Result: 3 * n * p.OneWay, Initiate: true, until: timed.Never}
}

// Start implements [Machine].
func (r *Ring) Start(now timed.Instant, alive timed.Set, out []Effect) []Effect {
	r.until = timed.Never
	if r.Initiate {
		return r.Elect(now, alive, out)
	}
	return out
}

// Elect implements [Machine]. A process calls for one election at a time.
func (r *Ring) Elect(now timed.Instant, alive timed.Set, out []Effect) []Effect {
	if r.participant {
		return out
	}
	r.initiator = max(r.initiator, r.Self)
	r.takePart(now)
	return r.pass(Message{Kind: RingElection, Candidate: r.Self, Initiator: r.Self}, alive, now, out)
}

func (r *Ring) takePart(now timed.Instant) {
	r.participant, r.elected = true, 0
	if r.Repair != NoRepair {
		r.until = now.Add(r.Result)
	}
}

// next returns the successor in the ring, past suspected processes.
func (r *Ring) next(alive timed.Set) timed.NodeID {
	on := r.Ranking.Members
	if r.Repair != NoRepair {
		on = on.Intersect(alive)
	}
	if id := on.Without(r.Self).Next(r.Self); id != 0 {
		return id
	}
	return on.Without(r.Self).Min()
}

// pass sends a message to the successor. A process that is alone in the ring is its own
// successor.
func (r *Ring) pass(m Message, alive timed.Set, now timed.Instant, out []Effect) []Effect {
	if int(m.Hops) >= MaxRounds*r.Ranking.Members.Len() {
		return out
	}
	m.Hops++
	if to := r.next(alive); to != 0 {
		return append(out, Effect{to, m})
	}
	if m.Candidate == r.Self && m.Kind == RingElection {
		return r.win(now, m, alive, out)
	}
	return out
}

func (r *Ring) win(now timed.Instant, m Message, alive timed.Set, out []Effect) []Effect {
	r.conclude(r.Self)
	return r.pass(Message{Kind: RingElected, Candidate: r.Self, Initiator: m.Initiator}, alive, now, out)
}

// conclude ends the election with the process that it elected.
func (r *Ring) conclude(elected timed.NodeID) {
	r.participant, r.elected, r.until = false, elected, timed.Never
}

// HandleMessage implements [Machine].
func (r *Ring) HandleMessage(now timed.Instant, _ timed.NodeID, m *Message, alive timed.Set, out []Effect) []Effect {
	if !r.Ranking.Members.Has(m.Candidate) {
		return out
	}
	switch m.Kind {
	case RingElection:
		return r.handleElection(now, m, alive, out)
	case RingElected:
		if r.suppressed(m) {
			return out
		}
		r.initiator = 0 // its election is over
		if m.Candidate == r.Self {
			return out
		}
		r.conclude(m.Candidate)
		return r.pass(*m, alive, now, out)
	}
	return out
}

// suppressed reports whether a higher initiator's election is under way.
func (r *Ring) suppressed(m *Message) bool {
	return r.Suppress == ByInitiator && m.Initiator < r.initiator
}

func (r *Ring) handleElection(now timed.Instant, m *Message, alive timed.Set, out []Effect) []Effect {
	if r.suppressed(m) {
		return out
	}
	fresh := !r.participant
	if r.Suppress == ByInitiator && m.Initiator > r.initiator {
		r.initiator, fresh = m.Initiator, true
	}
	switch {
	case m.Candidate == r.Self && !r.participant:
		return out // it has won already: this is a copy
	case m.Candidate == r.Self:
		return r.win(now, *m, alive, out)
	case r.Ranking.Above(m.Candidate, r.Self):
		if !r.participant {
			r.takePart(now)
		}
		return r.pass(*m, alive, now, out)
	case fresh:
		r.takePart(now)
		return r.pass(Message{Kind: RingElection, Candidate: r.Self, Initiator: m.Initiator, Hops: m.Hops}, alive, now, out)
	}
	return out
}

// HandleTimeout implements [Machine].
func (r *Ring) HandleTimeout(now timed.Instant, alive timed.Set, out []Effect) []Effect {
	late := now >= r.until
	lost := r.elected != 0 && r.elected != r.Self && !alive.Has(r.elected) && r.Repair != NoRepair &&
		(r.Repair == ByDetector || r.next(r.Ranking.Members) == r.elected)
	if !late && !lost {
		return out
	}
	r.participant, r.initiator, r.until = false, 0, timed.Never
	return r.Elect(now, alive, out)
}

// Deadline implements [Machine].
func (r *Ring) Deadline() timed.Instant { return r.until }

// Claim implements [Machine].
func (r *Ring) Claim(timed.Instant) Claim { return following(r.Self, r.elected) }
