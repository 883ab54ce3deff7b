package leader

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/timed"
)

// lag is a group in true time whose packets are late, lost, repeated, and overtake each other,
// each on its way to each node. Nodes stop for a while, begin anew, and give up their leads,
// and the network is cut. What nodes know of delays is exact.
type lag struct {
	t      testing.TB
	seed   uint64
	rand   *rand.Rand
	now    time.Duration
	nodes  []*lagged
	queue  []onWay
	cut    [8]int // the part that each node is in
	calm   bool
	timing timed.Timing
	quorum quorum.System
	trust  []trusted
	met    map[string]int
}

// lagged is a node of the group.
type lagged struct {
	*Election
	self    timed.Incarnation
	origin  timed.Instant
	rate    time.Duration // of its clock, in parts per million too much
	asleep  time.Duration // until then
	ran     timed.Instant
	beat    timed.Instant
	started time.Duration
	peers   [8]heard
}

// heard is what a node knows of packets from another.
type heard struct {
	boot   timed.BootID
	newest timed.Instant // stamp
	fast   timed.Instant // when the last fast one came
	hears  bool          // by the newest, the other hears this node
}

// onWay is a packet under way.
type onWay struct {
	sent, at time.Duration
	from     timed.Incarnation
	to       int
	stamp    timed.Instant
	state    State
	hears    [8]timed.BootID // incarnations that the sender hears
	quorum   QuorumID
	kind     Kind // 0: nothing but the state
	effect   Effect
	question *Question
}

// trusted is an assurance that a node counts on.
type trusted struct {
	until   time.Duration
	by      timed.Incarnation
	support timed.Set // when it came, and By among it
	global  time.Duration
	quorum  QuorumID
}

func newLag(t testing.TB, seed uint64) *lag {
	g := &lag{t: t, seed: seed, rand: rand.New(rand.NewPCG(seed, 9)), now: time.Second, timing: timed.LAN(), met: map[string]int{}}
	all := timed.Set{}
	n := 3 + g.rand.IntN(3)
	for i := range n {
		all.Add(timed.NodeID(i + 1))
	}
	if g.rand.IntN(2) == 0 {
		g.quorum, _ = quorum.Majority(all)
	}
	cfg := Config{Timing: g.timing, Mode: Mode(g.rand.IntN(2)), RankBy: RankBy(g.rand.IntN(2)), Quorum: g.quorum}
	for i := range n {
		g.nodes = append(g.nodes, nil)
		g.start(i, cfg)
	}
	return g
}

// start begins an incarnation of a node.
func (g *lag) start(i int, cfg Config) {
	cfg.Self = timed.Incarnation{Node: timed.NodeID(i + 1), Boot: 1}
	if n := g.nodes[i]; n != nil {
		cfg.Self.Boot = n.self.Boot + 1
	}
	n := &lagged{self: cfg.Self, origin: timed.Instant(g.rand.Int64N(int64(time.Hour))), rate: time.Duration(g.rand.IntN(181) - 90), started: g.now}
	n.Election = New(cfg, n.clock(g.now))
	n.ran = n.clock(g.now)
	g.nodes[i] = n
}

// clock returns what a node's clock shows at a true time.
func (n *lagged) clock(at time.Duration) timed.Instant {
	d := at - n.started
	return n.origin.Add(d + d*n.rate/1_000_000)
}

// trueTime returns the true time at which a node's clock shows an instant.
func (n *lagged) trueTime(at timed.Instant) time.Duration {
	d := at.Sub(n.origin)
	return n.started + d - d*n.rate/1_000_000
}

// alive returns the peers that are alive.
func (n *lagged) aliveAt(now timed.Instant, tm *timed.Timing) (set timed.Set) {
	for i := range n.peers {
		if p := &n.peers[i]; p.hears && p.fast != 0 && now.Sub(p.fast) <= tm.Expires {
			set.Add(timed.NodeID(i + 1))
		}
	}
	return set
}

// send sends a packet, which may get lost, or come more than once.
func (g *lag) send(n *lagged, to timed.NodeID, m onWay) {
	now := n.clock(g.now)
	m.sent, m.from, m.stamp = g.now, n.self, now
	n.FillState(now, &m.state)
	m.quorum = n.QuorumID()
	for i := range n.peers {
		if p := &n.peers[i]; n.Ready(now) && p.fast != 0 && now.Sub(p.fast) <= g.timing.Expires {
			m.hears[i] = p.boot
		}
	}
	for i, o := range g.nodes {
		if o == n || to != timed.NoNode && to != o.self.Node {
			continue
		}
		for times := 1; times > 0; times-- {
			if g.cut[i] != g.cut[n.self.Node-1] || !g.calm && g.rand.IntN(12) == 0 {
				continue
			}
			if !g.calm && g.rand.IntN(8) == 0 {
				times++
			}
			m.to, m.at = i, g.now+time.Duration(100+g.rand.IntN(2900))*time.Microsecond
			if !g.calm && g.rand.IntN(8) == 0 {
				m.at += time.Duration(g.rand.IntN(150)) * time.Millisecond
			}
			g.queue = append(g.queue, m)
		}
	}
}

// receive takes a packet.
func (g *lag) receive(n *lagged, m *onWay) {
	now, p := n.clock(g.now), &n.peers[m.from.Node-1]
	if m.from.Boot != p.boot {
		seated := p.fast != 0 && now.Sub(p.fast) <= g.timing.Expires
		if m.from.Boot < p.boot || seated || g.now-m.sent > g.timing.Expires {
			return
		}
		*p = heard{boot: m.from.Boot}
		n.Forget(m.from.Node)
	}
	fast := g.now-m.sent <= g.timing.FastThreshold
	if fast {
		p.fast = timed.Later(p.fast, now)
	}
	if m.stamp >= p.newest {
		p.newest, p.hears = m.stamp, m.hears[n.self.Node-1] == n.self.Boot
		n.NoteState(now, m.from, &m.state)
	}
	n.SetAlive(now, n.aliveAt(now, &g.timing))
	if m.kind == SendRequest || m.kind == SendReply {
		g.perform(n, n.HandleQuorum(now, m.from.Node, m.quorum, nil))
	}
	switch m.kind {
	case SendRelease:
		n.NoteRelease(now, m.from, m.effect.Number, m.effect.Peer)
	case SendRequest:
		sent := n.clock(max(m.sent, n.started))
		started := sent.Add(time.Duration(g.rand.Int64N(int64(now.Sub(sent)) + 1)))
		g.perform(n, n.HandleRequest(now, m.from, m.effect.Request, fast, started, nil))
	case SendReply:
		g.perform(n, n.HandleReply(now, m.from, m.effect.Reply, fast, nil))
	case SendAnswer:
		g.perform(n, n.HandleAnswer(now, m.from, m.effect.Answer, nil))
	}
	if m.question != nil {
		g.perform(n, n.HandleQuestion(now, m.from, *m.question, nil))
	}
}

// perform performs the effects of a node.
func (g *lag) perform(n *lagged, out []Effect) {
	for _, e := range out {
		switch e.Kind {
		case SendRequest, SendRelease:
			g.send(n, timed.NoNode, onWay{kind: e.Kind, effect: e})
		case SendReply, SendAnswer:
			g.send(n, e.Peer, onWay{kind: e.Kind, effect: e})
		case Verified:
			if a := e.Assurance; a.Local > 0 {
				t := trusted{until: n.trueTime(a.Local), by: a.By, support: timed.SetOf(a.By.Node), quorum: n.QuorumID()}
				if a.Global > 0 {
					t.global = n.trueTime(a.Global)
				}
				g.trust = append(g.trust, t)
			}
		}
		g.met[e.Kind.String()]++
	}
}

// turn is a turn of a node.
func (g *lag) turn(n *lagged) {
	now := n.clock(g.now)
	if now.Sub(n.ran) > g.timing.Expires {
		n.NoteStall(now)
	}
	n.ran = now
	n.SetAlive(now, n.aliveAt(now, &g.timing))
	for range 2 {
		if n.Deadline() <= now {
			g.perform(n, n.HandleTimeout(now, nil))
		}
	}
	if now.Sub(n.beat) >= g.timing.KeepalivePeriod {
		n.beat = now
		g.send(n, timed.NoNode, onWay{})
	}
	require.Empty(g.t, n.Audit(now), "seed %d, node %v at %v", g.seed, n.self, g.now)
	if n.topValid { // then it is what it would be if it were computed now
		cached := [3]any{n.top, n.topAbove, n.above}
		n.topValid = false
		n.best()
		require.Equal(g.t, [3]any{n.top, n.topAbove, n.above}, cached, "seed %d, node %v at %v", g.seed, n.self, g.now)
	}
}

// step lets half a millisecond pass.
func (g *lag) step() {
	g.now += 500 * time.Microsecond
	var due []onWay
	g.queue = slices.DeleteFunc(g.queue, func(m onWay) bool {
		if m.at <= g.now && g.nodes[m.to].asleep <= g.now {
			due = append(due, m)
			return true
		}
		return false
	})
	for i := range due {
		g.receive(g.nodes[due[i].to], &due[i])
	}
	for _, i := range g.rand.Perm(len(g.nodes)) {
		if n := g.nodes[i]; n.asleep <= g.now && (g.calm || g.rand.IntN(3) > 0) {
			g.turn(n)
		}
	}
	g.judge()
}
