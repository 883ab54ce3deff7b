package membership

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/failaware/failaware/timed"
)

// quarrel is a group in which any node may lead at any time. Messages come late, out of
// order, repeatedly, or never. Leases do not end, because the tests are about the order
// of views.
type quarrel struct {
	nodes   [4]*Service // 1 to 3
	self    [4]timed.Incarnation
	parts   []mailed[Part]
	reports []mailed[Report]

	proposed map[ViewID]*View // the first view of each id
	names    map[ViewID]*View
	newest   [4]uint64 // the sequence of the last proposal, installation and report
	last     [4]uint64
	known    [4]uint64
	over     [4]map[ViewID]bool // views that the node knows to be resigned
	installs int
}

// mailed is a message under way.
type mailed[M any] struct {
	from timed.Incarnation
	to   timed.NodeID // of a report
	m    M
}

func (q *quarrel) Flushed(ViewID) bool { return true }

// LeaseOf gives every vote of a living incarnation a long lease.
func (q *quarrel) LeaseOf(i timed.Incarnation) (until, request timed.Instant, ok bool) {
	return now.Add(time.Hour), now, q.self[i.Node] == i
}

func (q *quarrel) boot(id timed.NodeID) timed.BootID { return q.self[id].Boot }

func (q *quarrel) start(id timed.NodeID) {
	q.self[id] = timed.Incarnation{Node: id, Boot: q.self[id].Boot + 1}
	q.nodes[id] = New(Config{Self: q.self[id], Timing: timed.LAN()})
	q.newest[id], q.last[id], q.known[id] = 0, 0, 0
	q.over[id] = map[ViewID]bool{}
}

// take checks the effects of a node.
func (q *quarrel) take(t *rapid.T, id timed.NodeID, out []Effect) {
	for _, e := range out {
		if e.Kind != Installed {
			continue
		}
		q.installs++
		require.Greater(t, e.View.ID.Sequence, q.last[id], "M3")
		q.last[id] = e.View.ID.Sequence
		me, _ := e.View.Member(id)
		require.Equal(t, q.self[id], me.Incarnation, "M2")
		require.Equal(t, e.Previous, me.Previous, "the lineage of a member is the view that it had")
		if first := q.names[e.View.ID]; first != nil {
			require.Equal(t, first.Members, e.View.Members, "M1")
		}
		q.names[e.View.ID] = e.View
	}
}

// holds checks the invariants of each node.
func (q *quarrel) holds(t *rapid.T) {
	for id := timed.NodeID(1); id <= 3; id++ {
		s := q.nodes[id]
		r := report(s)
		require.GreaterOrEqual(t, r.Sequence, q.known[id], "no sequence is forgotten")
		require.GreaterOrEqual(t, r.Sequence, r.Acknowledged.Sequence)
		require.GreaterOrEqual(t, r.Acknowledged.Sequence, r.Installed.Sequence, "a view is acknowledged before it is installed")
		q.known[id] = r.Sequence
		if s.UpToDate(now) {
			require.Equal(t, s.View().ID, r.Acknowledged, "no older view counts once its successor is acknowledged")
			require.False(t, q.over[id][s.View().ID], "no view counts once its leader resigned")
		}
		p := s.Proposal()
		if p == nil {
			continue
		}
		if first := q.proposed[p.ID]; first == nil {
			require.Greater(t, p.ID.Sequence, q.newest[id], "a leader's proposals grow")
			require.Greater(t, p.ID.Sequence, q.last[id], "a leader proposes above the installed sequence")
			q.proposed[p.ID], q.newest[id] = p, p.ID.Sequence
		} else {
			require.Same(t, first, p, "one proposal for each id")
		}
	}
}

func (q *quarrel) giveUp(t *rapid.T, id timed.NodeID) {
	q.take(t, id, q.nodes[id].HandleGaveUp(now, LeadEnded, timed.NoNode, nil))
}

// announce returns the view part of a node's next request.
func (q *quarrel) announce(t *rapid.T, id timed.NodeID) Part {
	out := q.nodes[id].Announce(now, true, q, nil)
	q.take(t, id, out)
	return partOf(out)
}

// winRound lets a node win a round, with its requests and their replies.
func (q *quarrel) winRound(t *rapid.T) {
	id := drawNode.Draw(t, "leader")
	support := timed.SetOf(id, drawNode.Draw(t, "by"), drawNode.Draw(t, "by"))
	q.take(t, id, q.nodes[id].HandleWon(now, support, timed.Set{}, support.Without(id), q.boot, q, nil))
	for range rapid.IntRange(1, 3).Draw(t, "requests") {
		p := q.announce(t, id)
		for to := range support.Without(id).All() {
			q.giveUp(t, to)
			q.take(t, to, q.nodes[to].HandlePart(now, q.self[id], &p, now, now, time.Millisecond, nil))
			r := report(q.nodes[to])
			q.take(t, id, q.nodes[id].HandleReport(now, q.self[to], &r, true, q, nil))
		}
		q.holds(t)
	}
}

// hear lets a node receive a request, perhaps an old one.
func (q *quarrel) hear(t *rapid.T) {
	if len(q.parts) == 0 {
		t.Skip("nothing under way")
	}
	p := q.parts[len(q.parts)-1-rapid.IntRange(0, min(5, len(q.parts)-1)).Draw(t, "older")]
	id := drawNode.Draw(t, "member")
	if id == p.from.Node {
		t.Skip("a node does not write to itself")
	}
	q.giveUp(t, id) // a node that votes for another does not lead
	q.take(t, id, q.nodes[id].HandlePart(now, p.from, &p.m, now, now, time.Millisecond, nil))
	q.reports = append(q.reports, mailed[Report]{q.self[id], p.from.Node, report(q.nodes[id])})
}

var drawNode = rapid.Custom(func(t *rapid.T) timed.NodeID { return timed.NodeID(rapid.IntRange(1, 3).Draw(t, "id")) })

func TestViewsFollowEachOtherInOrder(t *testing.T) { viewsFollow(t) }

func viewsFollow(t testing.TB) {
	installs := 0
	rapid.Check(t, func(t *rapid.T) {
		q := &quarrel{proposed: map[ViewID]*View{}, names: map[ViewID]*View{}}
		for id := timed.NodeID(1); id <= 3; id++ {
			q.start(id)
		}
		t.Repeat(map[string]func(*rapid.T){
			"wins": func(t *rapid.T) {
				id := drawNode.Draw(t, "leader")
				support := timed.SetOf(id, drawNode.Draw(t, "by"), drawNode.Draw(t, "by"))
				refused := timed.SetOf(drawNode.Draw(t, "refused")).Minus(support)
				q.take(t, id, q.nodes[id].HandleWon(now, support, refused, timed.SetOf(1, 2, 3).Without(id), q.boot, q, nil))
			},
			"asks": func(t *rapid.T) {
				id := drawNode.Draw(t, "leader")
				q.parts = append(q.parts, mailed[Part]{from: q.self[id], m: q.announce(t, id)})
			},
			"wins a whole round": q.winRound,
			"hears":              q.hear,
			"is answered": func(t *rapid.T) {
				if len(q.reports) == 0 {
					t.Skip("nothing under way")
				}
				r := q.reports[len(q.reports)-1-rapid.IntRange(0, min(3, len(q.reports)-1)).Draw(t, "older")]
				q.take(t, r.to, q.nodes[r.to].HandleReport(now, r.from, &r.m, rapid.Bool().Draw(t, "votes"), q, nil))
			},
			"gives up": func(t *rapid.T) { q.giveUp(t, drawNode.Draw(t, "leader")) },
			"resigns": func(t *rapid.T) {
				v, id := q.nodes[drawNode.Draw(t, "leader")].View(), drawNode.Draw(t, "member")
				if v == nil || v.ID.Leader == id {
					t.Skip("nothing to say")
				}
				q.take(t, id, q.nodes[id].HandleResign(now, timed.Incarnation{Node: v.ID.Leader, Boot: v.ID.Boot}, v.ID, nil))
				q.over[id][v.ID] = true
			},
			"restarts": func(t *rapid.T) { q.start(drawNode.Draw(t, "node")) },
			"":         func(t *rapid.T) { q.holds(t) },
		})
		installs += q.installs
	})
	if !testing.Short() { // which runs too few for this count
		require.Greater(t, installs, 200)
	}
}

// Lineage: the branches that meet in a view partition its members, and the members of a
// branch came from the same view.
func TestBranchesArePartitionsOfAView(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := &View{}
		for id := timed.NodeID(1); id <= 10; id++ {
			if rapid.Bool().Draw(t, "member") {
				from := ViewID{Sequence: rapid.Uint64Range(0, 3).Draw(t, "from")}
				v.Members = append(v.Members, Member{inc(id), from})
				v.Set.Add(id)
			}
		}
		var all timed.Set
		least := timed.NoNode
		for _, b := range v.Merged() {
			require.False(t, b.Members.Empty())
			require.False(t, all.Intersects(b.Members), "no node is in two branches")
			require.Greater(t, b.Members.Min(), least, "in the order of their smallest members")
			least, all = b.Members.Min(), all.Union(b.Members)
			for id := range b.Members.All() {
				m, ok := v.Member(id)
				require.True(t, ok)
				require.Equal(t, b.From, m.Previous)
			}
			if !b.From.None() {
				require.Equal(t, b.Members, v.Transitional(b.From))
			} else {
				require.Empty(t, v.Transitional(b.From), "a node that had no view did not come along")
			}
		}
		require.Equal(t, v.Set, all)
	})
}

func report(s *Service) (r Report) {
	s.FillReport(&r)
	return r
}
