package leader

import (
	"time"

	"github.com/failaware/failaware/leader/epoch"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/timed"
)

// Config is what an [Election] needs to know.
type Config struct {
	Self   timed.Incarnation
	Timing timed.Timing
	Mode   Mode
	RankBy RankBy
	Weight uint16
	// Quorum, if not nil, says which votes make a leader a global one. BI is not
	// promised then: a candidate with a quorum leads whoever else objects.
	Quorum quorum.System
	// Epoch numbers the quorum systems of a group; 0 means 1.
	Epoch uint64
	// Epochs, if not nil, says which votes count in a quorum, and is told of all
	// that do; Quorum and Epoch are then its own. The machine remains the
	// caller's: it hands it what others say, and performs its effects.
	Epochs *epoch.Machine
	// Starts counts the starts of this node, if something outlives them that can
	// count; 0: nothing does.
	Starts uint64
	Collation
}

// Vote is a vote that a member of the support set gave: the request that it
// answered and for how long it binds.
type Vote struct {
	Boot     timed.BootID
	Number   timed.Instant
	LockTime time.Duration
}

// Election is the state of one node in the election of a local leader. All
// handlers take the local hardware clock first and the set of alive peers where
// they need it. It is a pure machine for one goroutine.
type Election struct {
	cfg   Config
	peers peers

	readyAt, quietUntil timed.Instant
	resigned            bool // leaves for good: no contender any more
	yields              bool // has handed over: no contender until another leads, or yieldUntil
	yieldUntil          timed.Instant

	// The vote given.
	lockedTo    timed.Incarnation
	lockedUntil timed.Instant
	lockRequest timed.Instant

	// The round under way.
	lastRequest timed.Instant
	lockTime    time.Duration // that lastRequest asked for
	open        bool
	alarm       timed.Instant
	nextRequest timed.Instant
	target      timed.Set
	replies     timed.Set
	refusals    timed.Set
	collated    collated

	// The lease held.
	leading    bool
	expiration timed.Instant
	support    timed.Set
	refused    timed.Set
	voters     timed.Set // ids with a recorded vote

	// Votes on their way back.
	releasing      bool
	releaseRequest timed.Instant
	releaseAt      timed.Instant
	granted        timed.Instant // until when view leases that rest on the votes may count
	vouched        timed.Instant // and answers to questions
	successor      timed.NodeID  // in whose favour, if anybody's

	// This node was named as the successor of a leader that resigned.
	named      bool
	namedUntil timed.Instant

	global *globalLead // nil without a quorum system

	// The highest-ranked contender among the alive, cached until a rank changes,
	// this node's own included.
	top      timed.NodeID
	topAbove bool // it outranks this node
	topAlive timed.Set
	topValid bool
	unfit    bool
}

// New returns the election of an incarnation that starts at now.
func New(cfg Config, now timed.Instant) *Election {
	e := &Election{cfg: cfg}
	e.newGlobalLead()
	e.readyAt = now.Add(cfg.Timing.ReadyTime())
	// Keepalives that say "heard" are exchanged only once nodes are ready: a
	// request before that would find nobody.
	e.quietUntil = e.readyAt.Add(e.grace())
	return e
}

// grace is how long a node that has just become ready, or that finds that it
// was stopped, listens before it concludes that it is alone.
func (e *Election) grace() time.Duration {
	t := &e.cfg.Timing
	return t.MaxDrift.Upper(t.KeepalivePeriod + t.SchedulingDelay + 2*t.OneWayTimeout)
}

// Ready reports whether the incarnation may vote and request (model, "Ready").
func (e *Election) Ready(now timed.Instant) bool { return now >= e.readyAt }

// ReadyAt returns when the incarnation may vote.
func (e *Election) ReadyAt() timed.Instant { return e.readyAt }

// Leads reports whether this node leads its logical partition at now. No
// message ends a lead: time does.
func (e *Election) Leads(now timed.Instant) bool {
	return e.leading && now < e.expiration
}

// Leading returns whether the node holds a lease and, if so, when it ends.
func (e *Election) Leading() (expiration timed.Instant, leading bool) {
	return e.expiration, e.leading
}

// Support returns the support set of the lease held.
func (e *Election) Support() timed.Set { return e.support }

// Refusals returns who refused the round that was won last.
func (e *Election) Refusals() timed.Set { return e.refused }

// Vote returns the vote last given by a node of the support set; ok is false
// when none is recorded.
func (e *Election) Vote(id timed.NodeID) (Vote, bool) {
	v := e.peers.of(id).vote
	return v, v.Boot != 0
}

// LastRequest returns the number of the latest request.
func (e *Election) LastRequest() timed.Instant { return e.lastRequest }

// Locked returns to whom this node's vote is bound at now, and until when.
func (e *Election) Locked(now timed.Instant) (timed.Incarnation, timed.Instant) {
	if now >= e.lockedUntil {
		return timed.Incarnation{}, 0
	}
	return e.lockedTo, e.lockedUntil
}

// Describe writes what this node says about itself in packets that leave at now.
func (e *Election) Describe(now timed.Instant, st *State) {
	st.Weight, st.MaxLock, st.Contender = e.cfg.Weight, e.cfg.Timing.MaxLockTime, !e.abstains()
	st.Leading, st.Support, st.Named = false, 0, e.named
	st.Global, st.Say = e.LeadsGlobally(now), e.hasSay()
	if e.Leads(now) {
		st.Leading, st.Support = true, uint8(e.support.Len())
	}
	st.LockedTo, _ = e.Locked(now)
}

// HandleState notes what a peer's accepted incarnation says about itself.
func (e *Election) HandleState(from timed.Incarnation, st *State) {
	p := e.peers.edit(from.Node)
	if p.boot == from.Boot && p.state == *st {
		return
	}
	p.boot, p.state = from.Boot, *st
	e.topValid = false
	if st.Leading {
		e.yields = false // somebody has taken over
		e.endNamed()
	}
}

// Forget drops what is known of a peer whose incarnation has changed. Its vote
// stays recorded as the old incarnation's.
func (e *Election) Forget(id timed.NodeID) {
	p := e.peers.edit(id)
	p.boot, p.state = 0, State{}
	p.quorum, p.quorumKnown = QuorumID{}, false
	e.replies.Remove(id)
	e.topValid = false
}

// Peer returns what a peer last said about itself.
func (e *Election) Peer(id timed.NodeID) State { return e.peers.of(id).state }

// Stalled says that this node did not run for some time: it listens before it
// concludes from the silence that it is alone.
func (e *Election) Stalled(now timed.Instant) {
	e.quietUntil = timed.Later(e.quietUntil, now.Add(e.grace()))
}

// Granted notes that a view lease which rests on the present votes may count
// until the given instant of this clock.
func (e *Election) Granted(until timed.Instant) { e.granted = timed.Later(e.granted, until) }

// GrantsDropped notes that everybody has dropped the leases granted.
func (e *Election) GrantsDropped() {
	e.granted = 0
	e.releaseAt = e.bound()
}

// Releasing reports that votes are about to be given back.
func (e *Election) Releasing() bool { return e.releasing }

// RequestSoon asks for a round without waiting for the period.
func (e *Election) RequestSoon() { e.nextRequest = 0 }

// Deadline returns when HandleTimeout is next due, for a given alive set.
func (e *Election) Deadline(alive timed.Set) timed.Instant {
	d := timed.Never
	if e.open {
		d = e.alarm
	}
	if e.leading {
		d = timed.Earlier(d, e.expiration)
	}
	if e.releasing {
		d = timed.Earlier(d, e.releaseAt)
	}
	if e.global != nil && e.global.held {
		d = timed.Earlier(d, e.global.until)
	}
	if e.named {
		d = timed.Earlier(d, e.namedUntil)
	}
	if at := e.requestAt(alive); at < d {
		d = at
	}
	return d
}

// requestAt returns when the next request is due, or Never while some contender
// outranks this node.
func (e *Election) requestAt(alive timed.Set) timed.Instant {
	if e.open || e.resigned || e.outranked(alive) {
		return timed.Never
	}
	at := timed.Later(e.nextRequest, e.quietUntil)
	if e.yields && e.best(alive) != timed.NoNode {
		at = timed.Later(at, e.yieldUntil) // there is somebody to take over
	}
	if e.lockedTo.Valid() && e.lockedTo != e.cfg.Self {
		at = timed.Later(at, e.lockedUntil)
	}
	return at
}

// HandleTimeout does what has become due.
func (e *Election) HandleTimeout(now timed.Instant, alive timed.Set, out []Effect) []Effect {
	if e.open && now >= e.alarm {
		out = e.check(now, alive, true, out)
	}
	if e.leading && now >= e.expiration {
		e.leading, e.topValid = false, false
		if e.open {
			// The round under way may still win; the views of the lost lease
			// are over all the same.
			out = e.giveUp(LeaseExpired, timed.NoNode, out)
		} else {
			out = e.release(now, LeaseExpired, timed.NoNode, out)
		}
	}
	if e.global != nil && e.global.held && now >= e.global.until {
		out = e.endGlobal(NoQuorum, timed.NoNode, out)
	}
	if e.named && now >= e.namedUntil {
		e.endNamed()
	}
	if e.releasing && now >= e.releaseAt {
		out = e.finishRelease(now, out)
	}
	if e.yields && now >= e.yieldUntil {
		e.yields, e.topValid = false, false
	}
	if now >= e.requestAt(alive) {
		e.yields = false
		out = e.request(now, alive, out)
	}
	return out
}
