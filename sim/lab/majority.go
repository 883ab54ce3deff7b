package lab

import (
	"time"

	"github.com/failaware/failaware/timed"
)

// Majority is an election by votes and master leases, as in Chubby: the process with the
// votes of a majority is the master for the time of the lease, announces it, and renews it
// by winning again. For that time the others promise neither to stand nor to vote for
// another process.
type Majority struct {
	Self    timed.NodeID
	Ranking *Ranking
	// Lease is the time for which a vote binds, and Renew the time between the ballots of a
	// master. Each better process adds Stagger to the wait before a candidacy.
	Lease, Renew, Stagger time.Duration
	Drift                 timed.Drift

	vote   grant
	ballot ballot
	lead   lease
	stands timed.Instant // when the process asks for votes next, if it is free
	ready  timed.Instant // before this it does not vote: it may have voted before a crash
}

// NewMajority returns a replica.
func NewMajority(self timed.NodeID, r *Ranking, p Pace) *Majority {
	return &Majority{Self: self, Ranking: r, Lease: p.Lease, Renew: p.Period, Stagger: 3 * p.OneWay, Drift: p.Drift}
}

// Start implements [Machine]. The vote is not on disk. So a process waits until every vote
// that it gave before a crash has ended.
func (v *Majority) Start(now timed.Instant, _ timed.Set, out []Effect) []Effect {
	v.ready = now.Add(v.Drift.Wait(v.Lease))
	v.stands = v.ready.Add(v.patience())
	return out
}

// patience returns how long a process waits for better ones to stand first.
func (v *Majority) patience() time.Duration {
	return time.Duration(v.Ranking.Place(v.Self)) * v.Stagger
}

// Elect implements [Machine]: the process asks for votes, if its own is free.
func (v *Majority) Elect(now timed.Instant, _ timed.Set, out []Effect) []Effect {
	v.stands = now.Add(v.Renew)
	if now < v.ready || !v.vote.free(v.Self, now) {
		return out
	}
	v.ballot = ballot{start: now, ends: now.Add(v.Drift.Trust(v.Lease)), votes: timed.SetOf(v.Self)}
	v.vote.bind(v.Self, v.ballot.ends, now)
	out = toAll(v.Ranking.others(v.Self), Message{Kind: VoteRequest, Start: now, Span: v.Lease, Yes: now < v.lead.until}, out)
	return v.count(now, out)
}

// count checks whether the ballot is won.
func (v *Majority) count(now timed.Instant, out []Effect) []Effect {
	b := &v.ballot
	if b.start == 0 || now >= b.ends || !v.Ranking.quorum(b.votes) {
		return out
	}
	first := now >= v.lead.until
	v.lead = lease{b.ends, b.votes}
	if !first {
		return out
	}
	v.stands = now.Add(v.Renew)
	return toAll(v.Ranking.others(v.Self), Message{Kind: MasterIs}, out)
}

// HandleMessage implements [Machine].
func (v *Majority) HandleMessage(now timed.Instant, from timed.NodeID, m *Message, _ timed.Set, out []Effect) []Effect {
	switch m.Kind {
	case VoteRequest:
		if m.Yes {
			v.waitFor(now.Add(v.Lease))
		}
		if now < v.ready || !v.vote.free(from, now) || m.Span <= 0 || m.Span > v.Lease {
			return out
		}
		v.vote.bind(from, now.Add(m.Span), m.Start)
		v.waitFor(v.vote.until)
		return append(out, Effect{from, Message{Kind: VoteGranted, Start: m.Start}})
	case VoteGranted:
		if v.ballot.start == m.Start && m.Start != 0 {
			v.ballot.votes.Add(from)
			return v.count(now, out)
		}
	case MasterIs:
		v.waitFor(now.Add(v.Lease))
	}
	return out
}

// waitFor keeps the process from standing before another's lease can be over.
func (v *Majority) waitFor(t timed.Instant) { v.stands = timed.Later(v.stands, t.Add(v.patience())) }

// HandleTimeout implements [Machine].
func (v *Majority) HandleTimeout(now timed.Instant, alive timed.Set, out []Effect) []Effect {
	if now < v.stands {
		return out
	}
	if now >= v.lead.until && !v.vote.free(v.Self, now) {
		v.stands = v.vote.until.Add(v.patience())
		return out
	}
	out = v.Elect(now, alive, out)
	if now >= v.lead.until {
		// The votes of a split ballot must be free before the next one.
		v.stands = now.Add(v.Drift.Wait(v.Lease) + v.patience())
	}
	return out
}

// Deadline implements [Machine].
func (v *Majority) Deadline() timed.Instant { return v.stands }

// Claim implements [Machine].
func (v *Majority) Claim(now timed.Instant) Claim { return v.lead.claim(now, v.vote.claim(now)) }
