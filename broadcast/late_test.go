package broadcast

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// lag is a group whose packets are late, lost, repeated, and overtake each other, each on its
// way to each member. Views are proposed at random, by several nodes at once, and each
// member acknowledges, and installs, a view at a time of its own.
type lag struct {
	t     testing.TB
	seed  uint64
	rand  *rand.Rand
	now   timed.Instant
	nodes []*lagged
	queue []onWay
	views uint64
	calm  bool // nothing is late or lost any more

	proposals map[membership.ViewID]*lagProposal
	cast      map[ID]string
	place     map[membership.ViewID]map[uint64]ID // of the ordered messages of a view
	ends      map[[2]membership.ViewID][]ID       // what those deliver that move from one view to another
	met       map[string]int
}

// lagged is a node of the group.
type lagged struct {
	*Service
	self      timed.Incarnation
	beat      timed.Instant
	ahead     time.Duration // of its clock
	got       map[ID]bool   // by this incarnation
	inView    []ID          // delivered in the present view
	flushed   bool          // one of them has no place
	stamp     clocksync.Time
	last      [8][classes]uint64
	elsewhere map[ID]bool
	sentIDs   []ID
}

// lagProposal is a view that a node has proposed. It is committed once its leader has all reports.
type lagProposal struct {
	view      *membership.View
	committed bool
	terms     []*Commit
}

// onWay is a packet, a proposal, or the terms of a view, on its way to a node.
type onWay struct {
	at   timed.Instant
	from timed.Incarnation
	to   int
	p    *Packet
	view *lagProposal
}

func newLag(t testing.TB, seed uint64) *lag {
	g := &lag{t: t, seed: seed, rand: rand.New(rand.NewPCG(seed, 5)), now: timed.Instant(time.Second), proposals: map[membership.ViewID]*lagProposal{},
		cast: map[ID]string{}, place: map[membership.ViewID]map[uint64]ID{}, ends: map[[2]membership.ViewID][]ID{}, met: map[string]int{}}
	for i := range 3 + g.rand.IntN(2) {
		g.nodes = append(g.nodes, nil)
		g.start(i)
	}
	return g
}

// start begins an incarnation of a node.
func (g *lag) start(i int) {
	self := incarnation(i)
	if n := g.nodes[i]; n != nil {
		self.Boot = n.self.Boot + 1000
	}
	s := New(Config{Self: self, Timing: timed.LAN()})
	g.nodes[i] = &lagged{Service: s, self: self, ahead: time.Duration(g.rand.IntN(2000)) * time.Microsecond, got: map[ID]bool{}, stamp: minTime, elsewhere: map[ID]bool{}}
}

func (g *lag) reading(n *lagged) clocksync.Reading {
	return clocksync.Reading{Time: clocksync.Time(g.now.Add(n.ahead)), Deviation: 2 * time.Millisecond}
}

// delay returns for how long a message is under way.
func (g *lag) delay() time.Duration {
	d := time.Duration(100+g.rand.IntN(2900)) * time.Microsecond
	if !g.calm && g.rand.IntN(8) == 0 {
		d += time.Duration(g.rand.IntN(120)) * time.Millisecond
	}
	return d
}

// send sends a message, which may get lost, or come more than once.
func (g *lag) send(m onWay) {
	for times := 1; times > 0; times-- {
		if !g.calm && g.rand.IntN(15) == 0 {
			continue
		}
		if !g.calm && g.rand.IntN(8) == 0 {
			times++
		}
		m.at = g.now.Add(g.delay())
		g.queue = append(g.queue, m)
	}
}

// copied returns a copy of a packet that stays when its sender reclaims it.
func copied(p *Packet) *Packet {
	c := *p
	c.sizes, c.spans = nil, nil
	c.Runs, c.Decisions, c.Wants = slices.Clone(p.Runs), slices.Clone(p.Decisions), slices.Clone(p.Wants)
	for i := range c.Runs {
		c.Runs[i].Payload, c.Runs[i].Sizes = slices.Clone(c.Runs[i].Payload), slices.Clone(c.Runs[i].Sizes)
	}
	for i := range c.Decisions {
		c.Decisions[i].Ranges = slices.Clone(c.Decisions[i].Ranges)
	}
	return &c
}

// propose has a node propose a view of some nodes.
func (g *lag) propose(lead int, members []int) {
	n := g.nodes[lead]
	g.views++
	v := &membership.View{ID: membership.ViewID{Sequence: g.views, Leader: n.self.Node, Boot: n.self.Boot}}
	for _, i := range members {
		v.Members = append(v.Members, membership.Member{Incarnation: g.nodes[i].self})
		v.Set.Add(g.nodes[i].self.Node)
	}
	p := &lagProposal{view: v}
	g.proposals[v.ID] = p
	g.acknowledge(n, p)
	for _, i := range members {
		if i != lead {
			g.send(onWay{from: n.self, to: i, view: p})
		}
	}
}

// acknowledge freezes a node for a proposal.
func (g *lag) acknowledge(n *lagged, p *lagProposal) {
	m := &p.view.Members[p.view.Set.Rank(n.self.Node)]
	if n.freeze.proposal.Sequence >= p.view.ID.Sequence || n.View() != nil && n.View().ID.Sequence >= p.view.ID.Sequence || m.Incarnation != n.self {
		return
	}
	if v := n.View(); v != nil {
		m.Previous = v.ID
	}
	n.Freeze(g.now, p.view, p.view.ID.Leader == n.self.Node)
}

// step lets a millisecond pass.
func (g *lag) step() {
	g.now = g.now.Add(time.Millisecond)
	var due []onWay
	g.queue = slices.DeleteFunc(g.queue, func(m onWay) bool {
		if m.at <= g.now {
			due = append(due, m)
		}
		return m.at <= g.now
	})
	for _, m := range due {
		n := g.nodes[m.to]
		if g.nodes[m.from.Node-1].self != m.from {
			continue // no packet of an incarnation that has ended is accepted
		}
		switch {
		case m.p != nil:
			n.HandlePacket(g.now, m.from, m.p, nil)
		case m.view.committed:
			for _, c := range m.view.terms {
				n.handleCommit(m.from, c)
			}
		default:
			g.acknowledge(n, m.view)
		}
	}
	for _, i := range g.rand.Perm(len(g.nodes)) {
		if g.calm || g.rand.IntN(4) > 0 {
			g.turn(g.nodes[i])
		}
	}
}

// turn is a turn of a node.
func (g *lag) turn(n *lagged) {
	n.Reclaim()
	f := &n.freeze
	if p := g.proposals[f.proposal]; f.on && p != nil {
		switch {
		case f.lead && n.Ready(f.proposal):
			p.committed, p.terms = true, f.terms
			g.install(n, p)
		case p.committed && n.CanInstall(f.proposal):
			g.install(n, p)
		case g.rand.IntN(10) == 0: // the leader asks again and again
			if lead := g.nodes[p.view.ID.Leader-1]; lead.self.Boot == p.view.ID.Boot && lead != n {
				g.send(onWay{from: lead.self, to: int(n.self.Node) - 1, view: p})
			}
		}
	}
	if p := g.proposals[f.proposal]; f.on && f.lead && p != nil && g.rand.IntN(10) == 0 {
		for id := range p.view.Set.Without(n.self.Node).All() {
			g.send(onWay{from: n.self, to: int(id) - 1, view: p})
		}
	}
	out := n.HandleTimeout(g.now, g.reading(n), nil)
	if v := n.View(); v != nil && g.now.Sub(n.beat) >= timed.LAN().KeepalivePeriod {
		n.beat = g.now
		out = append(out, Effect{Kind: Send, Packet: n.Blank(g.reading(n))})
	}
	g.perform(n, out)
}

// install moves a node to a view, and compares what those deliver that move with it.
func (g *lag) install(n *lagged, p *lagProposal) {
	var from membership.ViewID
	if n.View() != nil {
		from = n.View().ID
	}
	g.perform(n, n.Install(g.now, p.view, nil))
	n.Reclaim()
	g.met["installed"]++
	if all, along := n.inView, [2]membership.ViewID{from, p.view.ID}; !from.None() {
		// The order of messages of different classes is not agreed on.
		slices.SortStableFunc(all, func(a, b ID) int {
			if a.Class != b.Class || a.Class == ClassOrdered {
				return cmp.Compare(a.Class, b.Class)
			}
			return cmp.Or(cmp.Compare(a.Sender, b.Sender), cmp.Compare(a.Sequence, b.Sequence))
		})
		if others, ok := g.ends[along]; ok {
			require.Equal(g.t, others, append([]ID{}, all...), "seed %d: those that move together deliver the same", g.seed)
			g.met["together"]++
		}
		g.ends[along] = append([]ID{}, all...)
	}
	n.inView, n.flushed, n.stamp = nil, false, minTime
}

// perform performs the effects of a node.
func (g *lag) perform(n *lagged, out []Effect) {
	for k := range out {
		switch e := &out[k]; e.Kind {
		case Send:
			p := copied(e.Packet)
			for j, o := range g.nodes {
				if o != n && (e.Peer == o.self.Node || e.Peer == timed.NoNode && n.View().Set.Has(o.self.Node)) {
					g.send(onWay{from: n.self, to: j, p: p})
				}
			}
		case Deliver:
			for i := range e.Deliveries {
				g.deliver(n, e.View, &e.Deliveries[i])
				n.Consumed(len(e.Deliveries[i].Payload), 1)
			}
		case Elsewhere:
			for seq := e.From; seq <= e.Through; seq++ {
				id := ID{n.self.Node, e.Class, n.self.Boot, seq}
				require.False(g.t, n.got[id], "seed %d: the outcome of %+v is known", g.seed, id)
				n.elsewhere[id] = true
			}
			g.met["elsewhere"]++
		}
	}
}

// broadcast has a node send a message.
func (g *lag) broadcast(n *lagged, opt Options) {
	payload := make([]byte, g.rand.IntN(40))
	if g.rand.IntN(20) == 0 {
		payload = make([]byte, 3000)
	}
	for i := range payload {
		payload[i] = byte(g.rand.Uint32())
	}
	if id, err := n.Broadcast(g.reading(n), payload, opt); err == nil {
		g.cast[id] = string(payload)
		n.sentIDs = append(n.sentIDs, id)
	}
}

// rage plays random views and messages, and then a last view of all.
func (g *lag) rage() {
	for range 12 {
		members := g.rand.Perm(len(g.nodes))[:1+g.rand.IntN(len(g.nodes))]
		slices.Sort(members)
		if g.rand.IntN(8) == 0 {
			g.start(g.rand.IntN(len(g.nodes)))
		}
		g.propose(members[g.rand.IntN(len(members))], members)
		for range 20 + g.rand.IntN(150) {
			if n := g.nodes[g.rand.IntN(len(g.nodes))]; n.View() != nil && g.rand.IntN(4) == 0 {
				g.broadcast(n, Options{Order(g.rand.IntN(3)), Atomicity(g.rand.IntN(3))})
			}
			g.step()
		}
	}
	g.calm = true
	all := make([]int, len(g.nodes))
	for i := range all {
		all[i] = i
	}
	g.propose(g.rand.IntN(len(all)), all)
	last := g.views
	for range 600 {
		g.step()
	}
	for i, n := range g.nodes {
		require.True(g.t, n.View() != nil && n.View().ID.Sequence == last && !n.frozen(), "seed %d: node %d is not in the last view", g.seed, i+1)
		for order := range Unordered + 1 {
			for atomicity := range atomicities {
				g.broadcast(n, Options{order, atomicity})
			}
		}
	}
	for range 600 {
		g.step()
	}
	for i, n := range g.nodes {
		for _, id := range n.sentIDs {
			require.True(g.t, n.got[id] || n.elsewhere[id], "seed %d: node %d never hears of %+v", g.seed, i+1, id)
			for j, o := range g.nodes {
				require.True(g.t, o.got[id] || !slices.Contains(n.sentIDs[max(0, len(n.sentIDs)-9):], id), "seed %d: node %d does not get %+v", g.seed, j+1, id)
			}
		}
	}
}

// latePackets plays groups whose packets come late, twice, and in any order.
func latePackets(t testing.TB) {
	met := map[string]int{}
	for seed := range uint64(100) {
		g := newLag(t, seed)
		g.rage()
		for what, n := range g.met {
			met[what] += n
		}
	}
	for _, what := range []string{"installed", "together", "transitional", "elsewhere"} {
		require.NotZero(t, met[what], what)
	}
}

func TestLatePacketsBreakNothing(t *testing.T) { latePackets(t) }
