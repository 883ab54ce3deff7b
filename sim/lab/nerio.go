package lab

import (
	"time"

	"github.com/failaware/failaware/timed"
)

// Clocks is the assumption of an instance of Nerio about clocks.
type Clocks uint8

const (
	// BoundedDrift: rates within ρ (OQwBD).
	BoundedDrift Clocks = iota
	// BoundedSkew: readings within Δ of each other, as a clock synchronization
	// gives them (OQwBS). The machine's instants are then those of that clock.
	BoundedSkew
)

// Nerio is the leader election of van Renesse, Schneider and Gehrke: a weak
// leader, which takes itself for the best process that is alive, obtains the grants of a
// quorum for a time.
type Nerio struct {
	Self    timed.NodeID
	Ranking *Ranking
	Clocks  Clocks
	// Lease is δ, the time for which grants are requested; Again is the time between two attempts
	// of a weak leader, or between two extensions of a lead.
	Lease, Again time.Duration
	Drift        timed.Drift
	Skew         time.Duration
	// Forgets is true for a process that loses its variables in a crash. It grants nothing
	// until every grant from before a crash has ended. The processes of the paper keep
	// their variables, and need not wait.
	Forgets bool

	vote   grant
	ballot ballot
	lead   lease
	next   timed.Instant // when a weak leader tries again
	ready  timed.Instant
}

// NewNerio returns a process of Nerio.
func NewNerio(self timed.NodeID, r *Ranking, c Clocks, p Pace) *Nerio {
	return &Nerio{Self: self, Ranking: r, Clocks: c, Lease: p.Lease, Again: p.Period, Drift: p.Drift, Skew: p.Skew, Forgets: true}
}

// Start implements [Machine].
func (n *Nerio) Start(now timed.Instant, _ timed.Set, out []Effect) []Effect {
	if n.Forgets {
		n.ready = now.Add(n.grantTime() + n.Skew)
	}
	n.next = timed.Later(now, n.ready)
	return out
}

// grantTime returns how long a grant binds on the voter's clock: (1+ρ)δ, or δ+Δ.
func (n *Nerio) grantTime() time.Duration {
	if n.Clocks == BoundedSkew {
		return n.Lease + n.Skew
	}
	return n.Drift.Wait(n.Lease)
}

// grantEnd returns when a grant ends that was requested at start and given at now.
func (n *Nerio) grantEnd(start, now timed.Instant, span time.Duration) timed.Instant {
	if n.Clocks == BoundedSkew {
		return start.Add(span + n.Skew)
	}
	return now.Add(n.Drift.Upper(span))
}

// leadEnd returns when the lead won by an attempt ends.
func (n *Nerio) leadEnd(start timed.Instant) timed.Instant {
	if n.Clocks == BoundedSkew {
		return start.Add(n.Lease)
	}
	return start.Add(n.Drift.Lower(n.Lease))
}

// Elect implements [Machine]: it aborts the previous attempt, and runs OQwBD or OQwBS.
func (n *Nerio) Elect(now timed.Instant, _ timed.Set, out []Effect) []Effect {
	n.next = now.Add(n.Again)
	if now < n.ready || !n.vote.free(n.Self, now) {
		return out
	}
	n.ballot = ballot{start: now, ends: n.leadEnd(now), votes: timed.SetOf(n.Self)}
	n.vote.bind(n.Self, n.grantEnd(now, now, n.Lease), now)
	n.count(now)
	return toAll(n.Ranking.others(n.Self), Message{Kind: GrantRequest, Start: now, Span: n.Lease}, out)
}

func (n *Nerio) count(now timed.Instant) {
	if b := &n.ballot; b.start != 0 && now < b.ends && n.Ranking.quorum(b.votes) {
		n.lead = lease{b.ends, b.votes}
	}
}

// HandleMessage implements [Machine].
func (n *Nerio) HandleMessage(now timed.Instant, from timed.NodeID, m *Message, _ timed.Set, out []Effect) []Effect {
	switch m.Kind {
	case GrantRequest:
		if now < n.ready || !n.vote.free(from, now) || m.Span <= 0 || m.Span > n.Lease {
			return out
		}
		n.vote.bind(from, n.grantEnd(m.Start, now, m.Span), m.Start)
		return append(out, Effect{from, Message{Kind: GrantOK, Start: m.Start}})
	case GrantOK:
		if m.Start == n.ballot.start {
			n.ballot.votes.Add(from)
			n.count(now)
		}
	case GrantRelease:
		n.vote.release(from, now, m.Start)
	}
	return out
}

// HandleTimeout implements [Machine].
func (n *Nerio) HandleTimeout(now timed.Instant, alive timed.Set, out []Effect) []Effect {
	weak := n.Ranking.Best(alive.Intersect(n.Ranking.Members).With(n.Self)) == n.Self
	if !weak && n.ballot.start != 0 {
		// The grants are useless now, and block the better process.
		out = toAll(n.Ranking.others(n.Self), Message{Kind: GrantRelease, Start: n.ballot.start}, out)
		n.vote.release(n.Self, now, n.ballot.start)
		n.ballot, n.lead = ballot{}, lease{}
	}
	if now < n.next {
		return out
	}
	if !weak {
		n.next = now.Add(n.Again)
		return out
	}
	return n.Elect(now, alive, out)
}

// Deadline implements [Machine].
func (n *Nerio) Deadline() timed.Instant { return n.next }

// Claim implements [Machine].
func (n *Nerio) Claim(now timed.Instant) Claim { return n.lead.claim(now, n.vote.claim(now)) }
