package lab

import "github.com/failaware/failaware/timed"

// grant is the vote of one process: bound to one candidate until a time of its
// own clock.
type grant struct {
	to    timed.NodeID
	until timed.Instant
	start timed.Instant // of the candidate's attempt, on the candidate's clock
}

// free reports whether the vote may go to a candidate at now.
func (g *grant) free(candidate timed.NodeID, now timed.Instant) bool {
	return g.to == candidate || now >= g.until
}

// bind gives the vote, and never shortens it.
func (g *grant) bind(to timed.NodeID, until, start timed.Instant) {
	if g.to != to {
		g.until, g.start = 0, 0
	}
	g.to, g.until, g.start = to, timed.Later(g.until, until), timed.Later(g.start, start)
}

// release frees the vote if it was given for an attempt of the candidate that began at start
// or earlier. A release that arrives after a later request frees nothing.
func (g *grant) release(from timed.NodeID, now, start timed.Instant) {
	if g.to == from && g.start <= start {
		g.until = timed.Earlier(g.until, now)
	}
}

// claim returns the claim of a voter: it supports the process that its vote is bound to.
func (g *grant) claim(now timed.Instant) Claim {
	if now >= g.until {
		return Claim{}
	}
	return Claim{Elected: g.to, Until: g.until, Group: Group{Leader: g.to}, Normal: true}
}

// ballot is an attempt to win the votes of a majority.
type ballot struct {
	start timed.Instant // 0: none
	ends  timed.Instant // the end of the lease that it may win
	votes timed.Set
}

// lease is the result of the last ballot that was won.
type lease struct {
	until timed.Instant
	votes timed.Set
}

// claim adds the lead to the claim of the process as a voter.
func (l *lease) claim(now timed.Instant, c Claim) Claim {
	if now < l.until {
		c.Leads, c.LeadUntil, c.Support = true, l.until, l.votes
	}
	return c
}
