package broadcast

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// staysFrozen reports whether a member that has acknowledged a proposal stays frozen
// when it hears nothing more of the proposal.
func staysFrozen() bool {
	g := newTrio(3, Config{})
	s := g.nodes[1]
	s.Freeze(g.now, viewOf(2, 0, 1), false)
	for range 100 {
		g.now = g.now.Add(g.nodes[1].cfg.Timing.Expires / 10)
		s.HandleTimeout(g.now, clocksync.Reading{}, nil)
		s.Reclaim()
	}
	return s.frozen()
}

func TestAFrozenMemberStaysSo(t *testing.T) { require.True(t, staysFrozen()) }

// followsOnePlan reports whether a frozen member follows the plan and the terms of its
// proposal, from the leader of that, and nothing of other proposals, from others, or for an
// end before what it has.
func followsOnePlan() bool {
	g := newTrio(3, Config{})
	s, old := g.nodes[1], g.nodes[1].view.ID
	v := viewOf(3, 0, 1, 2)
	s.Freeze(g.now, v, false)
	leader := incarnation(0)
	tell := func(from timed.Incarnation, id membership.ViewID, end uint64) {
		for _, p := range cutPlan(&Plan{Proposal: id, Groups: []Group{{Previous: old, End: end, Source: 1}}}, 1<<12) {
			s.handlePlan(g.now, from, p)
		}
		for _, c := range cutCommit(&Commit{Proposal: id, Branches: []Branch{{Previous: old, End: end}}}, 1<<12) {
			s.handleCommit(from, c)
		}
	}
	earlier := v.ID
	earlier.Sequence--
	tell(leader, earlier, s.have)
	tell(incarnation(2), v.ID, s.have)
	leader.Boot++
	tell(leader, v.ID, s.have)
	if f := &s.freeze; f.planned || f.commit != nil || s.CanInstall(v.ID) {
		return false
	}
	tell(incarnation(0), v.ID, s.have)
	return s.freeze.planned && s.freeze.group != nil && s.CanInstall(v.ID)
}

func TestAFrozenMemberFollowsOnePlan(t *testing.T) { require.True(t, followsOnePlan()) }

// keepsWhatItHas reports whether a member neither follows a plan whose view ends before what the
// member has, nor installs a view whose terms say so.
func keepsWhatItHas() bool {
	g := newTrio(3, Config{})
	s, v := g.nodes[1], viewOf(2, 0, 1, 2)
	s.have, s.known = 5, 5
	s.Freeze(g.now, v, false)
	s.follow(g.now, &Plan{Proposal: v.ID, Groups: []Group{{Previous: s.view.ID, End: 4, Source: 1}}})
	for _, c := range cutCommit(&Commit{Proposal: v.ID, Branches: []Branch{{Previous: s.view.ID, End: 4}}}, 1<<12) {
		s.handleCommit(incarnation(0), c)
	}
	return s.freeze.group == nil && s.known == 5 && !s.CanInstall(v.ID)
}

func TestAFrozenMemberKeepsWhatItHas(t *testing.T) { require.True(t, keepsWhatItHas()) }

// reportsCount reports whether the leader of a proposal counts the reports of its members, and none
// of another incarnation of one.
func reportsCount() bool {
	g := newTrio(2, Config{})
	s, v := g.nodes[0], viewOf(2, 0, 1)
	s.Freeze(g.now, v, true)
	report := func(from timed.Incarnation) bool {
		for _, r := range cutReport(&Report{Proposal: v.ID, Previous: s.view.ID, Have: s.have}, 1<<12) {
			s.handleReport(g.now, from, r)
		}
		return s.Ready(v.ID)
	}
	other := incarnation(1)
	other.Boot++
	return !report(other) && report(incarnation(1))
}

func TestReportsAreOfMembers(t *testing.T) { require.True(t, reportsCount()) }

// sends returns how many packets of a kind a machine sends in ten of the times after which it
// repeats them.
func (t *trio) sends(i int, of func(*Packet) bool) (n int) {
	s := t.nodes[i]
	for range 10 {
		t.now = t.now.Add(2 * s.cfg.Timing.OneWayTimeout)
		for _, e := range s.HandleTimeout(t.now, clocksync.Reading{}, nil) {
			if e.Kind == Send && of(e.Packet) {
				n++
			}
		}
		s.Reclaim()
	}
	return n
}

// repeatsDone reports whether a member says again and again that it has what the plan demands, and
// repeatsPlan whether the leader repeats that plan: any packet may be lost, and nothing else would
// end the flush.
func repeatsDone() bool {
	g := newTrio(3, Config{})
	s, v := g.nodes[1], viewOf(2, 0, 1, 2)
	s.Freeze(g.now, v, false)
	s.follow(g.now, &Plan{Proposal: v.ID, Groups: []Group{{Previous: s.view.ID, End: s.have, Source: 1}}})
	return g.sends(1, func(p *Packet) bool { return p.Done == v.ID }) == 10
}

func repeatsPlan() bool {
	g := newTrio(3, Config{})
	s, v := g.nodes[0], viewOf(2, 0, 1, 2)
	s.Freeze(g.now, v, true)
	s.freeze.orders, s.freeze.lacking = []order{{2, &Plan{Proposal: v.ID}}, {3, &Plan{Proposal: v.ID}}}, timed.SetOf(2)
	return g.sends(0, func(p *Packet) bool { return p.Plan != nil }) == 2*10
}

func TestAFlushSurvivesLostPackets(t *testing.T) { require.True(t, repeatsDone() && repeatsPlan()) }

// answersWhatItKnows reports whether the source that a plan names answers with the decisions that
// it knows, whatever end a faulty leader has put into the plan: it would look for all others.
func answersWhatItKnows() bool {
	g := newTrio(3, Config{})
	s, v := g.nodes[1], viewOf(2, 0, 1, 2)
	s.have, s.known = 5, 5
	s.Freeze(g.now, v, false)
	s.follow(g.now, &Plan{Proposal: v.ID, Groups: []Group{{Previous: s.view.ID, End: MaxSequence, Source: 2, Lack: []Lack{{Node: 3, Have: 3}}}}})
	return len(s.answers) == 1 && s.answers[0].log == Span{4, 5}
}

func TestASourceAnswersWhatItKnows(t *testing.T) { require.True(t, answersWhatItKnows()) }
