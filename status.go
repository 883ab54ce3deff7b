package failaware

import (
	"net/netip"
	"time"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/event"
	"github.com/failaware/failaware/internal/histogram"
	"github.com/failaware/failaware/internal/loop"
	"github.com/failaware/failaware/timed"
)

// Status is everything about a node, for people. Fields under "at one instant"
// belong together; they are as old as Age says.
type Status struct {
	ID     NodeID
	Name   string
	Tags   map[string]string
	Group  string
	Addr   netip.AddrPort // where the node listens
	Bounds Bounds
	Timing Timing

	// Answers, each from the clock at the call.
	Leader LeaderAnswer
	View   ViewAnswer
	Clock  Reading

	// At one instant of the node's loop.
	Age          time.Duration       // how long ago that was
	Boot         BootID              // of the latest incarnation
	Incarnations int                 // of this process: 1, and one more for every Restarted event
	Waiting      event.RestartReason // not empty while the node waits before it begins a new incarnation
	Ready        bool                // it may vote: its waiting time is over
	Leaving      bool                // it is telling its peers that it leaves
	// Late says that the node acted later than Timing.SchedulingDelay within the last
	// Timing.Expires, and tells its peers so.
	Late     bool
	Alive    Set          // the peers that are alive
	Peers    []PeerStatus // in the order of ids; those without a known id last
	Join     []JoinStatus // one for each entry of Config.Join
	Keys     []KeyID      // the one that seals packets first; empty without a KeyFile
	Counters []Counter    // since the start, of all incarnations
	Lateness Lateness
	Delays   Durations // proven delay bounds, of all packets of accepted incarnations

	Lagging time.Duration // how long the broadcast has waited for this node; 0: it does not

	UTC clocksync.Knowledge // and why not more is known, if some node is to ask references

	Awake bool // the node keeps processors from sleeping ([Config.Awake])

	// Stopped says that the node has stopped; Err why, if by itself.
	Stopped bool
	Err     error
}

// PeerStatus is a node's knowledge of a peer.
type PeerStatus struct {
	ID      NodeID // NoNode: not learnt yet
	Name    string // as it has said, or "node-ID"; empty while its id is not known
	Tags    map[string]string
	Boot    BootID         // the accepted incarnation; 0 when there is none
	Listed  string         // the address in the list of peers; empty for a learnt peer
	Addr    netip.AddrPort // where packets go; not valid while the name is not resolved
	Problem string         // why the name is not resolved, if it is not
	// Mismatch has the settings that differ from this node's. Packets of such a peer are
	// ignored. A node that sends with the id of a peer, from elsewhere, appears without an id.
	Mismatch event.Differences
	// Refused says why packets from its address do not count. It is empty if no such packet
	// has come lately. At most 8 addresses that are not listed appear without an id, while
	// packets come from them that the keys of this node do not open.
	Refused string
	// Incompatible says that these packets count again only when the keys or the build of
	// one of the two nodes change. Other reasons for Refused may pass.
	Incompatible bool
	Keys         []KeyID       // the peer's keys, the one that seals its packets first
	Alive        bool          // it is heard in time, and hears this node
	Fault        bool          // a clock fault lies between this node and the peer
	Delay        time.Duration // proven delay bound of its last packet, or [event.UnknownDelay]
	Fast         bool          // that packet was fast
	LastFast     time.Duration // since its last fast packet, or -1
	Deaf         bool          // it is heard in time, and does not hear this node
	// Refuses says that it hears this node, and takes another process for it: the former one,
	// until it has not heard that for its own Timing.Expires, or one that has the same id.
	Refuses bool
	// FastPackets and SlowPackets count its packets since this node started.
	FastPackets, SlowPackets uint64
	// OffsetLow and OffsetHigh bound the offset of its hardware clock against this node's,
	// if OffsetKnown.
	OffsetLow, OffsetHigh time.Duration
	OffsetKnown           bool
	// The peer reports these about itself.
	Leads     bool
	Candidate bool   // it may be elected
	Late      bool   // it acts later than it should
	Support   int    // how many nodes support it, while it leads
	Weight    uint16 // [Config.Weight] there
	LockedTo  NodeID // the node that its vote is bound to, or NoNode
	// Lagging is for how long the broadcast has waited for it to acknowledge or order messages,
	// with no progress, and Missing for how long messages of it have not come to this node; 0: it
	// does not wait. See [Node.Lagging].
	Lagging, Missing time.Duration
	// Ignored says in a few words why its packets are ignored, if Mismatch or Refused does: as
	// "settings differ", "keys differ", "versions differ" or "does not count".
	Ignored string
	// Unsent says why packets to it cannot be sent, if it is not alive and the system refuses
	// them.
	Unsent string
	// Forgot says that it has lost its state directory, or has an older copy, and so has
	// forgotten promises: see [event.PeerForgot]. It stays until this process ends, or an epoch
	// begins in which the peer has no vote.
	Forgot bool
	// Foreign says how the quorum system of a peer that is alive differs from this node's: the two do
	// not vote for each other ([event.OtherQuorum]).
	Foreign string
}

// Counter is a named number that only grows.
type Counter struct {
	Name  string
	Value uint64
}

// Durations counts durations in buckets. The first bucket holds durations up to 1 µs. The
// limit of each next bucket is twice that of the one before, and the last has no limit.
type Durations = histogram.Durations

// Lateness says how late the node's loop ran against its own timers. Lateness
// beyond Timing.SchedulingDelay costs elections and leases, though never safety.
type Lateness struct {
	Max     time.Duration // since the start
	Average time.Duration // exponentially weighted, over about 16 timers
	Last    time.Duration // of the timer served last
	Timers  uint64        // how many were served
	Late    uint64        // how many of them later than SchedulingDelay
	All     Durations     // of all timers since the start
}

// Status returns everything about the node. It waits for the loop's next turn, or
// for a second if the loop is stalled: then the fields of the loop are
// zero, and Age is negative.
func (n *Node) Status() Status {
	s := Status{ID: n.cfg.ID, Name: n.cfg.Name, Tags: n.TagsOf(n.cfg.ID), Group: n.cfg.Group, Addr: n.conn.LocalAddr(),
		Bounds: n.bounds, Timing: n.cfg.Timing, Age: -1}
	if l := n.loop.Status(); l != nil {
		s.Age = max(n.clock.Now().Sub(l.At), 0)
		s.Boot, s.Incarnations, s.Waiting = l.Boot, l.Incarnations, restartReasons[l.Waiting]
		s.Ready, s.Leaving, s.Late, s.Alive, s.Lateness, s.Delays = l.Ready, l.Leaving, l.Late, l.Alive, Lateness(l.Lateness), l.Delays
		s.Keys, s.UTC = l.Keys, n.missed(l.UTC)
		for i := range l.Peers {
			s.Peers = append(s.Peers, n.peerStatus(&l.Peers[i]))
		}
		for _, c := range l.Counters {
			s.Counters = append(s.Counters, Counter(c))
		}
	}
	if isClosed(n.done) {
		s.Stopped, s.Err = true, n.err
	}
	s.takeLags(n.Lagging())
	s.Join = n.joinStatus()
	s.Awake = n.cfg.Awake && !s.Stopped
	s.Leader, s.View, s.Clock = n.Leader(), n.View(), n.Clock()
	return s
}

// takeLags fills in what the broadcast waits for.
func (s *Status) takeLags(all Lags) {
	for i := range all {
		l := &all[i]
		if l.Self {
			s.Lagging = l.For
		}
		for j := range s.Peers {
			switch p := &s.Peers[j]; {
			case p.ID != l.Member:
			case l.Missing:
				p.Missing = l.For
			default:
				p.Lagging = l.For
			}
		}
	}
}

// peerStatus returns the status of a peer, from the loop's knowledge of it.
func (n *Node) peerStatus(p *loop.PeerStatus) PeerStatus {
	s := PeerStatus{ID: p.ID, Boot: p.Boot, Listed: p.Listed, Addr: p.Addr, Problem: p.Problem, Refused: p.Refused, Incompatible: p.Incompatible, Ignored: p.Ignored, Keys: p.Keys, Forgot: p.Forgot,
		Alive: p.Alive, Fault: p.Fault, Delay: p.Delay, Fast: p.Fast, LastFast: p.LastFast, Refuses: p.Refuses, FastPackets: p.FastPackets, SlowPackets: p.SlowPackets,
		OffsetLow: p.OffsetLow, OffsetHigh: p.OffsetHigh, OffsetKnown: p.OffsetKnown,
		Leads: p.Leads, Candidate: p.Candidate, Late: p.Late, Support: p.Support, Weight: p.Weight, LockedTo: p.LockedTo}
	if p.ID != NoNode {
		s.Name, s.Tags = n.NameOf(p.ID), n.TagsOf(p.ID)
	}
	if p.Mismatch != nil {
		s.Mismatch = n.differences(p.Mismatch)
	}
	if p.Foreign != nil {
		s.Foreign = n.foreign(p.Foreign)
	}
	if !p.Alive && p.Addr.IsValid() {
		s.Unsent = n.unsentTo(p.Addr)
	}
	s.Deaf = !p.Alive && p.LastFast >= 0 && n.cfg.Timing.Deaf(p.LastFast)
	return s
}

// Published is a state that a node answers from, for an audit: see
// [Config.OnPublish]. Its instants are of the hardware clock, which all processes of
// a machine share.
type Published struct {
	// Turn is the instant of the loop's turn: no earlier answer rests on this state.
	Turn timed.Instant
	// Done is an instant after the state had replaced the previous one: no answer from
	// then on rests on the previous one.
	Done timed.Instant
	// Era counts the suspends of the machine; a lease of another era is void.
	Era  uint32
	Self Incarnation
	// Leading says that the node leads while the clock is before LeadUntil, with the
	// votes of Support.
	Leading   bool
	LeadUntil timed.Instant
	Support   Set
	// Global says that the node leads globally while the clock is before GlobalUntil.
	Global      bool
	GlobalUntil timed.Instant
	// View is the view installed last, which is empty before the first one. It is up to
	// date while the clock is before ViewUntil. It must not be changed.
	View      *View
	ViewUntil timed.Instant
}
