package leader

import (
	"time"

	"github.com/failaware/failaware/leader/epoch"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/timed"
)

// Config configures an [Election].
type Config struct {
	Self   timed.Incarnation
	Timing timed.Timing
	Mode   Mode
	RankBy RankBy
	Weight uint16 // larger is preferred
	// Quorum, if not nil, determines which votes make a leader a global one. BI is
	// not promised then: a candidate with a quorum leads whatever other nodes
	// answer.
	Quorum quorum.System
	// Epoch numbers the quorum systems of a group; 0 means 1.
	Epoch uint64
	// Epochs, if not nil, decides which votes count in a quorum, and learns of all
	// that do. Quorum and Epoch are then ignored. The caller drives the machine: it
	// hands it the reports of other nodes and performs its effects.
	Epochs *epoch.Machine
	// Starts is the number of starts of this node, or 0 if no lasting storage
	// counts them.
	Starts uint64
	// Tentative says that this node may yet give up its id. It is not ready before
	// [Election.Settle].
	Tentative bool
	Collation
}

// Vote is a vote of a member of the support set: the request that it answered and how
// long it binds.
type Vote struct {
	Boot     timed.BootID
	Number   timed.Instant
	LockTime time.Duration
}

// Election is the state of one node in the election of a local leader. It is a pure
// machine for one goroutine. [Election.SetAlive] tells it which peers are alive.
type Election struct {
	cfg   Config
	peers peers
	alive timed.Set

	readyAt, quietUntil timed.Instant
	settledAt           timed.Instant // when a tentative incarnation would have been ready
	resigned            bool          // the node leaves: it is no longer a contender
	steppedDown         bool          // not a contender until another leads, or until downUntil
	downUntil           timed.Instant

	// The vote given.
	lockedTo    timed.Incarnation
	lockedUntil timed.Instant
	lockRequest timed.Instant
	turnsFrom   timed.Instant     // lockedUntil, or the silence of its owner if that is later: see gone.go
	handed      timed.Incarnation // may take the vote over: lockedTo gave it up in this one's favour
	ended       bool              // the end of the vote was noticed
	lapsed      timed.Incarnation // a leader that let this node's vote end, and is silent since

	// The present round.
	lastRequest timed.Instant
	lockTime    time.Duration // that lastRequest asked for
	open        bool          // the round is not decided yet
	periodic    bool          // it began on schedule, not because of news
	alarm       timed.Instant // when it is decided at the latest
	nextRequest timed.Instant
	target      timed.Set // peers that were alive when it began
	replies     timed.Set
	refusals    timed.Set
	collated    collated

	// The lease held.
	leading    bool
	expiration timed.Instant
	support    timed.Set
	refused    timed.Set
	voters     timed.Set // ids with a recorded vote

	// Votes that will be given back.
	releasing      bool
	releaseRequest timed.Instant
	releaseAt      timed.Instant
	granted        timed.Instant // end of the view leases that rest on the votes
	answersUntil   timed.Instant // end of the answers that rest on the votes
	inheritedUntil timed.Instant // end of the view leases of the leader who handed its votes over
	youngUntil     timed.Instant // from then on, requests from before this node's view are slow
	successor      timed.NodeID  // in whose favour, or NoNode

	// This node was named as the successor of a leader that resigned.
	named      bool
	namedUntil timed.Instant

	global *globalLead // nil without a quorum system

	// The contender of the highest rank among the alive peers, cached until the
	// alive set, this node's vote or a rank changes, its own included.
	top      timed.NodeID
	topAbove bool // it outranks this node
	topValid bool
	above    int  // number of better candidates that followed the same leader, which is gone
	unfit    bool // votes of peers are too short for this node's settings

	late  late
	audit audit
}

// New returns the election of an incarnation that starts at now.
func New(cfg Config, now timed.Instant) *Election {
	e := &Election{cfg: cfg}
	e.newGlobalLead()
	e.lookAround()
	e.readyAt = now.Add(cfg.Timing.ReadyTime())
	// Nodes say that they hear each other only once they are ready. A request
	// before that would reach no alive peer.
	e.quietUntil = e.readyAt.Add(e.grace())
	if cfg.Tentative {
		e.settledAt, e.readyAt, e.quietUntil = e.readyAt, timed.Never, timed.Never
	}
	return e
}

// Settle says that this node keeps its id. It becomes ready now, or when votes of an
// earlier process with the id are over.
func (e *Election) Settle(now timed.Instant) {
	if e.cfg.Tentative && e.readyAt == timed.Never {
		e.readyAt = timed.Later(now, e.settledAt)
		e.quietUntil = e.readyAt.Add(e.grace())
	}
}

// SetAlive sets the peers that are alive at now. Call it before the handlers of a packet
// and before those of a timeout, which all rely on it.
func (e *Election) SetAlive(now timed.Instant, alive timed.Set) {
	e.noteLapse(now)
	if alive == e.alive {
		return
	}
	lost := e.alive.Minus(alive)
	e.meet(lost)
	if lost.Has(e.lockedTo.Node) && e.lockedTo != e.lapsed {
		e.turnsFrom = timed.Later(e.turnsFrom, now)
	}
	e.alive = alive
	e.lookAround()
}

// grace is how long a node that has just become ready, or that finds that it was
// stopped, listens before it concludes that it is alone.
func (e *Election) grace() time.Duration {
	t := &e.cfg.Timing
	return t.MaxDrift.Upper(t.KeepalivePeriod + t.SchedulingDelay + 2*t.OneWayTimeout)
}

// Ready reports whether the incarnation may vote and request: no vote of an
// earlier one can still bind.
func (e *Election) Ready(now timed.Instant) bool { return now >= e.readyAt }

// ReadyAt returns when the incarnation may vote.
func (e *Election) ReadyAt() timed.Instant { return e.readyAt }

// Leads reports whether this node leads its logical partition at now. Time ends a
// lead, not a message.
func (e *Election) Leads(now timed.Instant) bool {
	return e.leading && now < e.expiration
}

// Leading reports whether the node holds a lease, and returns when the lease ends.
func (e *Election) Leading() (expiration timed.Instant, leading bool) {
	return e.expiration, e.leading
}

// Support returns the support set of the lease held.
func (e *Election) Support() timed.Set { return e.support }

// Refusals returns the nodes that refused their votes in the last round that was won.
func (e *Election) Refusals() timed.Set { return e.refused }

// Vote returns the last vote of a node of the support set; ok is false if none is
// recorded.
func (e *Election) Vote(id timed.NodeID) (v Vote, ok bool) {
	v = e.peers.of(id).vote
	return v, v.Boot != 0
}

// LastRequest returns the number of the latest request.
func (e *Election) LastRequest() timed.Instant { return e.lastRequest }

// Locked returns the incarnation to which this node's vote is bound at now, and until
// when.
func (e *Election) Locked(now timed.Instant) (timed.Incarnation, timed.Instant) {
	if now >= e.lockedUntil {
		return timed.Incarnation{}, 0
	}
	return e.lockedTo, e.lockedUntil
}

// FillState writes this node's state into packets that leave at now.
func (e *Election) FillState(now timed.Instant, st *State) {
	st.Weight, st.MaxLock, st.Contender = e.cfg.Weight, e.cfg.Timing.MaxLockTime, !e.abstains()
	st.Leading, st.Support, st.Named = false, 0, e.named
	st.Global, st.Quorate, st.Late = e.LeadsGlobally(now), e.quorate(), e.Late(now)
	if e.Leads(now) {
		st.Leading, st.Support = true, uint8(e.support.Len())
	}
	st.LockedTo, _ = e.Locked(now)
}

// NoteState records the state in a packet of a peer's accepted incarnation.
func (e *Election) NoteState(now timed.Instant, from timed.Incarnation, st *State) {
	e.noteLapse(now)
	if from.Node == e.lapsed.Node {
		e.lapsed, e.topValid = timed.Incarnation{}, false
	}
	p := e.peers.edit(from.Node)
	if p.boot == from.Boot && p.state == *st {
		return
	}
	p.boot, p.state = from.Boot, *st
	e.topValid = false
	if st.Leading {
		e.steppedDown = false // another node has taken over
		e.endNamed()
	}
}

// Forget drops the knowledge of a peer whose incarnation has changed. The vote of the
// old incarnation stays recorded.
func (e *Election) Forget(id timed.NodeID) {
	p := e.peers.edit(id)
	p.boot, p.state = 0, State{}
	p.quorum, p.quorumKnown = QuorumID{}, false
	e.replies.Remove(id)
	e.lookAround()
}

// Peer returns the last state of a peer.
func (e *Election) Peer(id timed.NodeID) State { return e.peers.of(id).state }

// NoteStall notes that this node did not run for some time. The node listens before it
// concludes from the silence that it is alone.
func (e *Election) NoteStall(now timed.Instant) {
	e.quietUntil = timed.Later(e.quietUntil, now.Add(e.grace()))
}

// NoteGrant notes that a view lease that rests on the present votes ends at until, on
// this node's clock.
func (e *Election) NoteGrant(until timed.Instant) { e.granted = timed.Later(e.granted, until) }

// NoteGrantsDropped notes that all members have dropped the view leases.
func (e *Election) NoteGrantsDropped() {
	e.granted = 0
	e.releaseAt = e.bound()
}

// Releasing reports whether votes are about to be given back.
func (e *Election) Releasing() bool { return e.releasing }

// Open reports whether the present round is not decided yet.
func (e *Election) Open() bool { return e.open }

// Renews reports whether the present round renews a lease at rest: the round began on
// schedule, and the leader has asked exactly its support set.
func (e *Election) Renews(now timed.Instant) bool {
	return e.open && e.periodic && e.Leads(now) && e.support == e.target.With(e.cfg.Self.Node) && e.cfg.Collation.Above == 0
}

// RequestSoon makes the next round due at once.
func (e *Election) RequestSoon() { e.nextRequest = 0 }

// Deadline returns when HandleTimeout is next due.
func (e *Election) Deadline() timed.Instant {
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
	if e.holdsGlobal() {
		d = timed.Earlier(d, e.global.until)
	}
	if e.named {
		d = timed.Earlier(d, e.namedUntil)
	}
	if e.mayLapse() && e.alive.Has(e.lockedTo.Node) {
		d = timed.Earlier(d, e.lockedUntil)
	}
	return timed.Earlier(d, e.requestAt())
}

// requestAt returns when the next request is due, or Never while a contender outranks
// this node.
func (e *Election) requestAt() timed.Instant {
	if e.open || e.resigned || e.outranked() {
		return timed.Never
	}
	at := timed.Later(e.nextRequest, e.quietUntil)
	if e.steppedDown && e.best() != timed.NoNode {
		at = timed.Later(at, e.downUntil) // a contender can take over
	}
	if e.lockedTo.Valid() && e.lockedTo != e.cfg.Self && e.handed != e.cfg.Self {
		at = timed.Later(at, e.turnsFrom.Add(e.deferral()))
	}
	return at
}

// HandleTimeout does the work that has become due.
func (e *Election) HandleTimeout(now timed.Instant, out []Effect) []Effect {
	if e.open && now >= e.alarm {
		out = e.check(now, true, out)
	}
	if e.leading && now >= e.expiration {
		e.leading, e.topValid = false, false
		if e.open {
			// The present round may still win, but the views of the lost lease
			// are over.
			out = e.giveUp(LeaseExpired, timed.NoNode, out)
		} else {
			out = e.release(now, LeaseExpired, timed.NoNode, out)
		}
	}
	if e.holdsGlobal() && now >= e.global.until {
		out = e.endGlobal(NoQuorum, timed.NoNode, out)
	}
	if e.named && now >= e.namedUntil {
		e.endNamed()
	}
	if e.releasing && now >= e.releaseAt {
		out = e.finishRelease(now, out)
	}
	if e.steppedDown && now >= e.downUntil {
		e.steppedDown, e.topValid = false, false
	}
	if now >= e.requestAt() {
		e.steppedDown = false
		out = e.request(now, out)
	}
	return out
}
