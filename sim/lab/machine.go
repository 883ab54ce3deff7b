package lab

import (
	"time"

	"github.com/failaware/failaware/timed"
)

// Machine is an election algorithm at one process, in the form of the platform's
// layers: time is an argument, messages are appended to out, and it never blocks, reads
// a clock, or draws a number. alive has the processes that its failure detector does not
// suspect now, itself included.
type Machine interface {
	// Start is the first call of a process.
	Start(now timed.Instant, alive timed.Set, out []Effect) []Effect
	HandleMessage(now timed.Instant, from timed.NodeID, m *Message, alive timed.Set, out []Effect) []Effect
	// HandleTimeout is due at Deadline, and whenever alive has changed. Calling
	// it early does nothing.
	HandleTimeout(now timed.Instant, alive timed.Set, out []Effect) []Effect
	Deadline() timed.Instant
	// Elect calls for an election now.
	Elect(now timed.Instant, alive timed.Set, out []Effect) []Effect
	Claim(now timed.Instant) Claim
}

// Effect is a message to be sent.
type Effect struct {
	To      timed.NodeID
	Message Message
}

// Claim is the claim of a process about the leader.
type Claim struct {
	// Elected is the leader that it accepts, or 0: elected_i of the lectures,
	// ldr_i of Garcia-Molina, "supports" of Fetzer and Cristian.
	Elected timed.NodeID
	// Until is when Elected ends by itself, on the process's clock; [timed.Never] for an
	// algorithm without leases.
	Until timed.Instant
	// Group is grp_i of Garcia-Molina, and Normal his status. An algorithm without
	// groups has the group of its leader.
	Group  Group
	Normal bool
	// Leads is the claim to lead, which ends at LeadUntil. Support has the voters that the
	// leader counts on; it is empty in algorithms without votes.
	Leads     bool
	LeadUntil timed.Instant
	Support   timed.Set
}

// Group names a group of the invitation algorithm.
type Group struct {
	Leader timed.NodeID
	Number uint64
}

// following is the claim of an algorithm without groups and leases.
func following(self, elected timed.NodeID) Claim {
	return Claim{Elected: elected, Until: timed.Never, Group: Group{Leader: elected}, Normal: elected != 0,
		Leads: elected == self, LeadUntil: timed.Never}
}

// Ranking is the order of candidates by an attribute: the larger weight, then the
// larger id.
type Ranking struct {
	Members timed.Set
	Weights [timed.MaxNodes + 1]uint32 // by id
}

// HighestID ranks n processes by their ids.
func HighestID(n int) *Ranking {
	r := new(Ranking)
	for i := range n {
		r.Members.Add(timed.NodeID(i + 1))
	}
	return r
}

// LowestID ranks n processes by weights that make the smallest id the best, as the
// platform does with equal weights.
func LowestID(n int) *Ranking {
	r := HighestID(n)
	for id := range r.Members.All() {
		r.Weights[id] = uint32(n) - uint32(id)
	}
	return r
}

// Above reports whether p is a better leader than q.
func (r *Ranking) Above(p, q timed.NodeID) bool {
	if r.Weights[p] != r.Weights[q] {
		return r.Weights[p] > r.Weights[q]
	}
	return p > q
}

// Best returns the best of a set, or 0.
func (r *Ranking) Best(of timed.Set) (best timed.NodeID) {
	for id := range of.All() {
		if best == 0 || r.Above(id, best) {
			best = id
		}
	}
	return best
}

// Higher returns the members that are better than a process, Lower all others except the
// process itself.
func (r *Ranking) Higher(than timed.NodeID) (s timed.Set) {
	for id := range r.Members.All() {
		if r.Above(id, than) {
			s.Add(id)
		}
	}
	return s
}

// Lower returns the members that a process is better than.
func (r *Ranking) Lower(than timed.NodeID) timed.Set {
	return r.Members.Minus(r.Higher(than)).Without(than)
}

// Place returns how many members are better than a process.
func (r *Ranking) Place(of timed.NodeID) int { return r.Higher(of).Len() }

// quorum reports whether a set is a majority of the members.
func (r *Ranking) quorum(s timed.Set) bool { return 2*s.Intersect(r.Members).Len() > r.Members.Len() }

// others returns all members but one.
func (r *Ranking) others(self timed.NodeID) timed.Set { return r.Members.Without(self) }

// toAll appends a message to each of a set.
func toAll(to timed.Set, m Message, out []Effect) []Effect {
	for id := range to.All() {
		out = append(out, Effect{id, m})
	}
	return out
}

// Pace has the time constants of algorithms and detectors, on local clocks.
type Pace struct {
	OneWay  time.Duration // bound of a timely message, processing included
	Period  time.Duration // of heartbeats, checks and renewals
	Suspect time.Duration // the silence after which a process is suspected
	Lease   time.Duration // the time for which votes bind
	Drift   timed.Drift
	Skew    time.Duration // bound of the difference of synchronized clocks
}

// PaceOf derives a pace from the constants of the platform, so that all algorithms detect
// and renew about as fast as the platform.
func PaceOf(t timed.Timing) Pace {
	return Pace{OneWay: t.MaxDrift.Upper(t.OneWayTimeout + t.SchedulingDelay), Period: t.KeepalivePeriod, Suspect: t.Expires,
		Lease: t.LockTime, Drift: t.MaxDrift, Skew: t.OneWayTimeout}
}
