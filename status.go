package failaware

import (
	"net/netip"
	"time"

	"github.com/failaware/failaware/timed"
)

// Status is everything about a node, for people. Fields under "at one instant"
// belong together; they are as old as Age says.
type Status struct {
	ID     NodeID
	Name   string
	Group  string
	Addr   netip.AddrPort // where the node listens
	Bounds Bounds
	Timing Timing

	// Answers, each from the clock at the call.
	Leader LeaderAnswer
	View   ViewAnswer
	Clock  Reading

	// At one instant of the node's loop.
	Age          time.Duration // how long ago that was
	Boot         BootID
	Incarnations int           // of this process: 1, and one more for every Restarted event
	Waiting      RestartReason // not empty while the node waits before it begins a new incarnation
	Ready        bool
	Leaving      bool
	Alive        Set
	Peers        []PeerStatus // in the order of ids; those without a known id last
	Counters     []Counter
	Lateness     Lateness

	Awake bool // the node keeps processors from sleeping ([Config.Awake])

	// Stopped tells that the node has stopped; Err why, if by itself.
	Stopped bool
	Err     error

	at timed.Instant // of the loop's part
}

// PeerStatus is what a node knows of a peer.
type PeerStatus struct {
	ID       NodeID         // NoNode: not learnt yet
	Boot     BootID         // the accepted incarnation; 0 when there is none
	Listed   string         // the address in the list of peers; empty for a learnt peer
	Addr     netip.AddrPort // where packets go; not valid while the name is not resolved
	Problem  string         // why the name is not resolved, if it is not
	Alive    bool
	Fault    bool          // a clock fault lies between this node and the peer
	Delay    time.Duration // proven delay bound of its last packet, or [UnknownDelay]
	Fast     bool          // that packet was fast
	LastFast time.Duration // since its last fast packet, or -1
	// Offset of its hardware clock against this node's lies within these, if
	// OffsetKnown.
	OffsetLow, OffsetHigh time.Duration
	OffsetKnown           bool
	// What it says about itself.
	Leads     bool
	Candidate bool
	Support   int
	Weight    uint16
	LockedTo  NodeID
}

// Counter is a named number that only grows.
type Counter struct {
	Name  string
	Value uint64
}

// Lateness says how late the node's loop ran against its own timers. Lateness
// beyond Timing.SchedulingDelay costs elections and leases, though never safety.
type Lateness struct {
	Max     time.Duration // since the start
	Average time.Duration // exponentially weighted, over about 16 timers
	Last    time.Duration
	Timers  uint64 // how many were served
	Late    uint64 // how many of them later than SchedulingDelay
}

// statusWait is how long Status waits for the loop before it answers with what
// it knew last.
const statusWait = time.Second

// Status returns everything about the node. It waits for the loop's next turn,
// or for a second if the loop is stalled: then it tells what is known without,
// and Age is negative.
func (n *Node) Status() Status {
	result := make(chan Status, 1)
	var s Status
	if n.do(func(d *driver) { result <- d.status() }) {
		select {
		case s = <-result:
		case <-n.done:
		case <-time.After(statusWait):
		}
	}
	select {
	case <-n.done:
		s = n.last
		s.Stopped, s.Err = true, n.err
	default:
	}
	s.Awake = n.cfg.Awake && !s.Stopped
	s.Age = -1
	if s.at != 0 {
		s.Age = max(n.clock.Now().Sub(s.at), 0)
	}
	s.ID, s.Name, s.Group = n.cfg.ID, n.cfg.Name, n.cfg.Group
	s.Addr, s.Bounds, s.Timing = n.conn.LocalAddr(), n.bounds, n.cfg.Timing
	s.Leader, s.View, s.Clock = n.Leader(), n.View(), n.Clock()
	return s
}

// status is the loop's part of [Node.Status].
func (d *driver) status() Status {
	s := Status{Boot: d.cfg.Self.Boot, Incarnations: d.incarnations, Waiting: d.waiting, Leaving: d.leaving,
		Lateness: d.late, Ready: d.published.Ready, Alive: d.published.Alive, at: d.now}
	for id := range d.routes.known.All() {
		s.Peers = append(s.Peers, d.peerStatus(id))
	}
	for _, e := range d.routes.strangers {
		if e.Node() == NoNode {
			s.Peers = append(s.Peers, PeerStatus{Listed: e.Name, Addr: e.Addr, Problem: e.Problem,
				Delay: UnknownDelay, LastFast: -1})
		}
	}
	s.Counters = d.counters()
	return s
}

func (d *driver) peerStatus(id NodeID) PeerStatus {
	t := &d.routes.to[id]
	p := PeerStatus{ID: id, Addr: t.addr, Alive: d.published.Alive.Has(id), Delay: UnknownDelay, LastFast: -1}
	if t.entry != nil {
		p.Listed, p.Problem = t.entry.Name, t.entry.Problem
	}
	if d.stack == nil {
		return p
	}
	dg := d.stack.Datagram()
	delay := dg.LastDelay(id)
	p.Boot, p.Fault, p.Delay, p.Fast = dg.Boot(id), dg.Fault(id), delay.Bound, delay.Fast
	if age, ok := dg.LastFast(id, d.now); ok {
		p.LastFast = age
	}
	p.OffsetLow, p.OffsetHigh, p.OffsetKnown = dg.Offset(id, d.now)
	st := d.stack.Election().Peer(id)
	p.Leads, p.Candidate, p.Support = st.Leading, st.Contender, int(st.Support)
	p.Weight, p.LockedTo = st.Weight, st.LockedTo.Node
	return p
}

func (d *driver) counters() []Counter {
	c := d.count
	if d.stack != nil {
		c.add(d.stack)
	}
	list := []Counter{
		{"dropped_malformed", c.malformed},
		{"dropped_foreign", c.foreign + c.dropped.Foreign},
		{"dropped_sealed", c.sealed},
		{"dropped_insecure", c.insecure},
		{"dropped_waiting", c.early},
		{"dropped_mismatch", c.dropped.Mismatch},
		{"dropped_unknown", c.dropped.Unknown},
		{"dropped_unaccepted", c.dropped.Unaccepted},
		{"dropped_faulty", c.dropped.Faulty},
		{"peers_over_limit", c.tooMany},
		{"unsent_unresolved", c.unresolved},
		{"unsent_unencoded", c.unencoded},
	}
	if d.cast != nil {
		list = append(list,
			Counter{"broadcast_other_view", c.cast.OtherView},
			Counter{"broadcast_stranger", c.cast.Stranger},
			Counter{"broadcast_overflow", c.cast.Overflow},
			Counter{"broadcast_invalid", c.cast.Invalid},
			Counter{"turns_lent", c.lent})
	}
	for _, x := range d.n.conn.Stats() {
		list = append(list, Counter{x.Name, x.Value})
	}
	return list
}
