package membership

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/failaware/failaware/timed"
)

// quarrel is a group in which anybody may lead at any time, and messages come
// late, in any order, more than once, or never. Leases do not end in it: it is
// about which view follows which.
type quarrel struct {
	nodes   [4]*Service // 1 to 3
	self    [4]timed.Incarnation
	parts   []mailed[Part]
	reports []mailed[Report]

	proposed map[ViewID]*View // what each id was first said to name
	names    map[ViewID]*View
	newest   [4]uint64 // the sequence of the last proposal, installation and report
	last     [4]uint64
	known    [4]uint64
	over     [4]map[ViewID]bool // what the node was told to be over
	installs int
}

// mailed is a message under way.
type mailed[M any] struct {
	from timed.Incarnation
	to   timed.NodeID // of a report
	m    M
}

func (q *quarrel) Flushed(ViewID) bool { return true }

// LeaseOf makes every vote of a living incarnation bind for long.
func (q *quarrel) LeaseOf(i timed.Incarnation) (timed.Instant, bool) {
	return now.Add(time.Hour), q.self[i.Node] == i
}

func (q *quarrel) boot(id timed.NodeID) timed.BootID { return q.self[id].Boot }

func (q *quarrel) start(id timed.NodeID) {
	q.self[id] = timed.Incarnation{Node: id, Boot: q.self[id].Boot + 1}
	q.nodes[id] = New(Config{Self: q.self[id], Timing: timed.LAN()})
	q.newest[id], q.last[id], q.known[id] = 0, 0, 0
	q.over[id] = map[ViewID]bool{}
}

// take looks at what a node wants.
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

// holds checks what is true of each node at any time.
func (q *quarrel) holds(t *rapid.T) {
	for id := timed.NodeID(1); id <= 3; id++ {
		s := q.nodes[id]
		r := report(s)
		require.GreaterOrEqual(t, r.Sequence, q.known[id], "no sequence is forgotten")
		require.GreaterOrEqual(t, r.Sequence, r.Acknowledged.Sequence)
		require.GreaterOrEqual(t, r.Acknowledged.Sequence, r.Installed.Sequence, "a view is acknowledged before it is installed")
		q.known[id] = r.Sequence
		if s.UpToDate(now) {
			require.Equal(t, s.View().ID, r.Acknowledged, "an older view counts although its successor was acknowledged")
			require.False(t, q.over[id][s.View().ID], "a view counts although its leader resigned")
		}
		p := s.Proposal()
		if p == nil {
			continue
		}
		if first := q.proposed[p.ID]; first == nil {
			require.Greater(t, p.ID.Sequence, q.newest[id], "a leader's proposals grow")
			require.Greater(t, p.ID.Sequence, q.last[id], "and are above what it has installed")
			q.proposed[p.ID], q.newest[id] = p, p.ID.Sequence
		} else {
			require.Same(t, first, p, "one proposal for each id")
		}
	}
}

func (q *quarrel) giveUp(t *rapid.T, id timed.NodeID) {
	out, _ := q.nodes[id].HandleGiveUp(now, LeadEnded, timed.NoNode, nil)
	q.take(t, id, out)
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
				var p Part
				_, out := q.nodes[id].Part(now, true, q, &p, nil)
				q.take(t, id, out)
				q.parts = append(q.parts, mailed[Part]{from: q.self[id], m: p})
			},
			"wins a whole round": func(t *rapid.T) {
				id := drawNode.Draw(t, "leader")
				support := timed.SetOf(id, drawNode.Draw(t, "by"), drawNode.Draw(t, "by"))
				q.take(t, id, q.nodes[id].HandleWon(now, support, timed.Set{}, support.Without(id), q.boot, q, nil))
				for range rapid.IntRange(1, 3).Draw(t, "requests") {
					var p Part
					_, out := q.nodes[id].Part(now, true, q, &p, nil)
					q.take(t, id, out)
					for to := range support.Without(id).All() {
						q.giveUp(t, to)
						q.take(t, to, q.nodes[to].HandlePart(now, q.self[id], &p, now, now, time.Millisecond, nil))
						r := report(q.nodes[to])
						q.take(t, id, q.nodes[id].HandleReport(now, q.self[to], &r, true, q, nil))
					}
					q.holds(t)
				}
			},
			"hears": func(t *rapid.T) {
				if len(q.parts) == 0 {
					t.Skip("nothing under way")
				}
				p := q.parts[len(q.parts)-1-rapid.IntRange(0, min(5, len(q.parts)-1)).Draw(t, "older")]
				id := drawNode.Draw(t, "member")
				if id == p.from.Node {
					t.Skip("a node does not write to itself")
				}
				q.giveUp(t, id) // who votes for another does not lead
				q.take(t, id, q.nodes[id].HandlePart(now, p.from, &p.m, now, now, time.Millisecond, nil))
				q.reports = append(q.reports, mailed[Report]{q.self[id], p.from.Node, report(q.nodes[id])})
			},
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
				out, _ := q.nodes[id].HandleResign(timed.Incarnation{Node: v.ID.Leader, Boot: v.ID.Boot}, v.ID, nil)
				q.take(t, id, out)
				q.over[id][v.ID] = true
			},
			"restarts": func(t *rapid.T) { q.start(drawNode.Draw(t, "node")) },
			"":         func(t *rapid.T) { q.holds(t) },
		})
		installs += q.installs
	})
	require.Greater(t, installs, 200)
}

// Lineage: the branches that meet in a view are its members, each once, and
// whoever came along with a member came from the same view.
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
			require.False(t, all.Intersects(b.Members), "nobody is in two branches")
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
				require.Empty(t, v.Transitional(b.From), "who comes from nowhere did not come along")
			}
		}
		require.Equal(t, v.Set, all)
	})
}

func report(s *Service) (r Report) {
	s.Report(&r)
	return r
}
