// Package introduce spreads the knowledge of members, so that a new node needs to know
// only one of them. A node introduces the peers that it hears to a peer that has just
// come alive, and now and then to any peer. It greets the members that others introduce,
// and the addresses at which there may be members; their own packets then make them known.
// It is pure: the loop performs its effects.
package introduce

import (
	"net/netip"
	"slices"
	"time"

	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/timed"
)

// Limits of what a node says and remembers.
const (
	tellTimes  = 4                // how often a peer that has come alive is told of the others
	tellEvery  = 4                // keepalive periods between the first two; then twice as long each time
	talkEvery  = 2 * time.Second  // between two introductions to peers that were told already
	greetEvery = 4                // keepalive periods between the first two greetings of a member; then twice as long each time
	forgetting = 30 * time.Second // after which a member that has not answered may be introduced anew
	maxGreeted = 64               // members under way; others are introduced again later
)

// Kind tells effects apart.
type Kind uint8

// The effects.
const (
	Introduce Kind = iota + 1 // this node's labels and Members, if any, to Peer, which hears this node
	Greet                     // Peer, which another node has heard at Addr, or whatever node is there if Peer is NoNode
)

// Effect is something that the loop must do. Kind determines which fields are set.
type Effect struct {
	Kind    Kind
	Peer    timed.NodeID
	Addr    netip.AddrPort
	Members timed.Set
}

// Machine is the state of one node. It is for one goroutine.
type Machine struct {
	self   timed.NodeID
	period time.Duration // of keepalives

	alive   timed.Set
	told    [timed.MaxNodes + 1]telling
	talk    timed.Instant // when the next peer is told anyway
	partner timed.NodeID  // that was told last
	from    timed.NodeID  // the last member that it was told of, in large groups
	greeted []greeting
	due     timed.Instant

	candidates []candidate
}

// backoff says when to repeat a packet: each wait is twice as long as the one before.
type backoff struct {
	at   timed.Instant // of the next packet
	wait time.Duration // before the one after it
}

// take reports whether the next packet is due. If so, take schedules the one after it.
func (b *backoff) take(now timed.Instant) bool {
	if now < b.at {
		return false
	}
	b.at, b.wait = now.Add(b.wait), 2*b.wait
	return true
}

// telling is how far a peer that has come alive was told of the others.
type telling struct {
	left int
	backoff
}

// greeting is a member that was introduced and is not alive yet. It may be cut off from here
// at first, so that greetings go on.
type greeting struct {
	wire.Member
	backoff
	until timed.Instant // when it is forgotten
}

// New returns the machine of an incarnation that starts at now.
func New(self timed.NodeID, keepalivePeriod time.Duration, now timed.Instant) *Machine {
	return &Machine{self: self, period: keepalivePeriod, talk: now.Add(talkEvery), due: now.Add(talkEvery)}
}

// SetAlive sets the peers that are alive. Those that have come alive are told at once, and
// greeted no more.
func (m *Machine) SetAlive(now timed.Instant, alive timed.Set) {
	if alive == m.alive {
		return // as in nearly every turn
	}
	for id := range alive.Minus(m.alive).All() {
		m.told[id] = telling{tellTimes, backoff{now, tellEvery * m.period}}
		m.due = now
	}
	m.greeted = slices.DeleteFunc(m.greeted, func(g greeting) bool { return alive.Has(g.Node) })
	m.alive = alive
	if alive.Empty() {
		m.hasten(now)
	}
}

// HandleMembers takes the members that a peer introduces. Those that are alive need no
// introduction. Others do, even if they have been known for long: they may have moved, while
// this node moved as well.
func (m *Machine) HandleMembers(now timed.Instant, members []wire.Member) {
	for _, x := range members {
		if x.Node == m.self || m.alive.Has(x.Node) || len(m.greeted) >= maxGreeted ||
			slices.ContainsFunc(m.greeted, func(g greeting) bool { return g.Member == x }) {
			continue
		}
		m.greeted = append(m.greeted, greeting{x, backoff{now, greetEvery * m.period}, now.Add(forgetting)})
		m.due = now
	}
}

// Deadline returns when HandleTimeout is next due.
func (m *Machine) Deadline() timed.Instant { return m.due }

// HandleTimeout does what has become due.
func (m *Machine) HandleTimeout(now timed.Instant, out []Effect) []Effect {
	if now < m.due {
		return out
	}
	out = m.tell(now, out)
	out = m.greet(now, out)
	out = m.seek(now, out)
	if now >= m.talk {
		m.talk = now.Add(talkEvery)
		out = m.gossip(out)
	}
	m.due = m.next()
	return out
}

// tell introduces all others to the peers that have come alive.
func (m *Machine) tell(now timed.Instant, out []Effect) []Effect {
	for id := range m.alive.All() {
		t := &m.told[id]
		if t.left == 0 || !t.take(now) {
			continue
		}
		t.left--
		out = append(out, Effect{Kind: Introduce, Peer: id, Members: m.alive.Without(id)})
	}
	return out
}

// gossip introduces some peers to the next one in turn, in case it missed them.
func (m *Machine) gossip(out []Effect) []Effect {
	m.partner = after(m.alive, m.partner)
	if m.partner == timed.NoNode {
		return out
	}
	others := m.alive.Without(m.partner)
	var some timed.Set
	for range min(others.Len(), wire.MaxMembers) {
		m.from = after(others, m.from)
		some.Add(m.from)
	}
	return append(out, Effect{Kind: Introduce, Peer: m.partner, Members: some})
}

// after returns the member of a set after an id, in a circle.
func after(s timed.Set, id timed.NodeID) timed.NodeID {
	if next := s.Next(id); next != timed.NoNode {
		return next
	}
	return s.Next(timed.NoNode)
}

// greet greets members until they are alive, less and less often, and forgets those that do
// not answer.
func (m *Machine) greet(now timed.Instant, out []Effect) []Effect {
	m.greeted = slices.DeleteFunc(m.greeted, func(g greeting) bool { return now >= g.until })
	for i := range m.greeted {
		g := &m.greeted[i]
		if !g.take(now) {
			continue
		}
		g.at = timed.Earlier(g.at, g.until)
		out = append(out, Effect{Kind: Greet, Peer: g.Node, Addr: g.Addr})
	}
	return out
}

// next returns when something is due.
func (m *Machine) next() timed.Instant {
	at := m.talk
	for id := range m.alive.All() {
		if t := &m.told[id]; t.left > 0 {
			at = timed.Earlier(at, t.at)
		}
	}
	for i := range m.greeted {
		at = timed.Earlier(at, m.greeted[i].at)
	}
	for i := range m.candidates {
		at = timed.Earlier(at, m.candidates[i].at)
	}
	return at
}
