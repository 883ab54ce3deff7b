package replica

import (
	"cmp"
	"slices"
	"time"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// The rank of a state orders the states that quorums had. A settled view has a rank above all
// that its members have promised, and its members promise it. Its state gets that rank when a
// quorum has announced, in the order, that it has the state: every later quorum then includes
// a member that has promised the rank, and its view gets a larger one. If the view ends before
// that, the state keeps its old rank, because other members may not have seen the view settled,
// and settle another view of the same rank. The sequence of the view cannot serve as rank,
// because sequences start at 1 again when the incarnations of all members end together.
//
// With Stored the rank is the sequence of the view. A state directory has it before the
// member takes part in the view, so that later views have larger ones, over processes. It does
// not have the generation, which a quorum promises first: see generation.go.
//
// A view that goes on although too few members remember may be of a smaller rank than the
// state of a node that is absent, or that lasts nowhere. It begins a generation: ranks of a
// later generation are larger, so that what is acknowledged from there on outranks all that
// was given up. A group that begins does so too, with Stored: all voters may have lost their disks,
// and a node that is no voter, or not any more, have a former state. That all of them have begun
// after that state is all they know, so the generation is that in which the first of them began.

// generation is how far apart the ranks of two generations are. No sequence gets there: each
// start of a process takes some thousand. Operators' words are further apart than
// generationPeriod.
const (
	generation       = 1 << 34
	generationPeriod = 4 * time.Second
)

// generationOf returns the generation that an operator's word at a time begins. It is larger
// than all before, also than those that no node remembers.
func generationOf(said time.Time) uint64 {
	return uint64(max(said.Unix(), 0)) / uint64(generationPeriod/time.Second) % (1 << 30)
}

// firstRank returns the smallest rank of the generation of a view that has just been settled.
func (m *Replica) firstRank() uint64 {
	last := uint64(0)
	for _, r := range m.reports {
		last = max(last, r.lineage.Rank/generation, r.promised/generation)
	}
	if m.begun {
		if m.givesUp() {
			last++
		}
		last = max(last, m.said, m.earliest)
	}
	return last * generation
}

// givesUp reports whether there may be a state that a view which begins gives up. A new group
// has none.
func (m *Replica) givesUp() bool {
	return !m.absent().Empty() || slices.ContainsFunc(m.reports, func(r *report) bool { return r.remembers || r.promised > 0 || r.lineage.Rank > 0 })
}

// promise determines and promises the rank of a view that has just been settled.
func (m *Replica) promise() {
	switch {
	case m.cfg.Quorum == nil:
		return
	case m.cfg.Stored:
		m.promiseGeneration()
		return
	}
	m.promised = max(m.promised, m.firstRank())
	for _, r := range m.reports {
		m.promised = max(m.promised, r.promised)
	}
	m.promised++
	m.keepRank()
	if m.Current() {
		m.broadcastHolds()
	}
}

// keepRank has the state of a view keep the rank that it had before.
func (m *Replica) keepRank() {
	m.lineage.Rank, m.lineage.Era = 0, m.latest()
	if len(m.branches) == 1 {
		m.lineage.Rank = m.branches[0].rank
		return
	}
	for _, r := range m.reports {
		m.lineage.Rank = max(m.lineage.Rank, r.lineage.Rank)
	}
}

// broadcastHolds announces, in the order, that this node has the state of the view.
func (m *Replica) broadcastHolds() {
	if m.cfg.Quorum != nil && !m.cfg.Stored {
		m.broadcast(marker, message{kind: kindHolds, view: m.view.ID})
	}
}

// lasts reports whether the state after a delivery is part of the states of all later
// quorums. Two facts imply it. All members are known to have the delivery and all before
// it, so it is in every state that they take along, even if their incarnations end. The
// holders of the view's state are a quorum by now, so the state has the rank of the view,
// every later quorum includes a holder, and no other state outranks it. Members that only
// wait for the state do not count, because without a holder no member can use the
// deliveries that they have queued. With Stored, checkStored must have said so of the last
// operation, which is possible for a barrier; for an operation, it says so later.
func (m *Replica) lasts(d *broadcast.Delivery) bool {
	q := m.cfg.Quorum
	regular := isStrict(d)
	if m.cfg.Stored {
		return regular && m.lastsTo > m.last
	}
	return regular && q != nil && q.IsQuorum(m.holders)
}

// isStrict reports whether all members deliver a message before they leave the view.
func isStrict(d *broadcast.Delivery) bool {
	return !d.Transitional && d.Atomicity == broadcast.StrictAtomicity
}

// takeHolds records that a member has the state of the view from this position on.
func (m *Replica) takeHolds(from timed.NodeID, view membership.ViewID) {
	if m.phase != settled || view != m.view.ID || m.cfg.Quorum == nil {
		return
	}
	m.holders.Add(from)
	if m.cfg.Quorum.IsQuorum(m.holders) {
		m.lineage.Rank, m.lineage.Era = m.promised, m.present()
	}
}

// takeBarrier handles a barrier. Barriers of other nodes have no effect.
func (m *Replica) takeBarrier(d broadcast.Delivery) {
	switch {
	case !m.own(&d):
	case m.missed != nil:
		m.othersMerge(&d)
	case m.Current():
		m.emit(Effect{Kind: Barrier, Delivery: d, At: Point{m.view.ID, m.last}, Lasting: m.lasts(&d)})
	default:
		m.skip(d)
	}
}

// newest returns the state of the last quorum. Quorums intersect, so their views are one
// line, in which sequences grow.
func (m *Replica) newest(bs []branch) branch {
	best := bs[0]
	for _, b := range bs[1:] {
		if c := b.compare(&best); c > 0 || c == 0 && m.preferred(&b, &best) {
			best = b
		}
	}
	return best
}

// compare compares the ranks of two branches. The branch of a later epoch is larger, even
// if that epoch was forced, and members of the former one that were declared dead come
// back. Within an epoch, operations that last are in a state that counts. If a quorum has
// lost its memory and begun again, nodes outside the quorum system may still have the
// former state. A view in which too few members remember has no such proof, and takes the
// state of the largest rank, whoever has it.
func (b *branch) compare(o *branch) int {
	if c := cmp.Compare(b.epoch, o.epoch); c != 0 {
		return c
	}
	if b.counts != o.counts {
		if b.counts {
			return 1
		}
		return -1
	}
	return cmp.Compare(b.rank, o.rank)
}

// voters returns the members of the quorum system of the newest state that remember.
func (m *Replica) voters() timed.Set {
	if m.cfg.Quorum == nil {
		return timed.Set{}
	}
	system := m.cfg.Quorum
	if f, _ := m.former(); f != nil {
		system = f
	}
	return m.remembering().Intersect(system.Members())
}

// preferred reports whether b is preferred to o, which has the same rank. With Stored, the state
// that continues the other has all of it, and what lasts is in the one that got farther in the
// view of the rank. The standing of its members says less: a disk at the beginning of that view
// gives its rank to the branch of a holder that was in none since the view before. Among equals,
// the state of a holder is preferred to one that was discarded or is of an earlier incarnation,
// then, without Stored, a state that continues the other, and then the state that more members
// have. A tentative state is the last among equals: with Stored, the disk of its node has the
// initial state under the rank of a view whose operations other disks have.
func (m *Replica) preferred(b, o *branch) bool {
	x, y := m.weightOf(b), m.weightOf(o)
	if !m.cfg.Stored && x != y {
		return x > y
	}
	if more, less := m.includes(b, o), m.includes(o, b); more != less {
		return more
	}
	if x, y := m.rankedBy(b), m.rankedBy(o); m.cfg.Stored && x != y {
		return x > y
	}
	if x != y {
		return x > y
	}
	return b.members.Len() > o.members.Len()
}

// rankedBy returns how far a branch has what was ordered in the view of its rank, with Stored.
// What lasts is there up to some position, on the disks of a quorum, so that the branch that got
// farthest has it, whatever was flushed behind.
func (m *Replica) rankedBy(b *branch) (position uint64) {
	for id := range b.members.All() {
		position = max(position, rankedIn(m.reportOf(id).lineage.Line, b.rank))
	}
	return position
}

// weightOf returns the weight of a branch by the standing of its members: 2 if one of them is
// a holder, 1 if they have discarded it or have it from an earlier incarnation, and 0 if it
// is tentative.
func (m *Replica) weightOf(b *branch) (weight int) {
	for id := range b.members.All() {
		switch m.reportOf(id).standing {
		case Holder:
			return 2
		case Pending:
			weight = 1
		}
	}
	return weight
}
