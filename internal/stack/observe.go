package stack

import (
	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/timed"
)

// observe reports the changes of the turn that no effect of a layer has reported.
func (s *Stack) observe(now timed.Instant, alive timed.Set) {
	if alive != s.alive {
		s.observeAlive(now, alive)
	}
	if leads := s.election.Leads(now); leads && !s.leading {
		s.leading = true
		s.notify(Event{Kind: EventElected, Peer: s.cfg.Self.Node, Support: s.election.Support()})
	}
	if s.quorate() && !s.global && s.election.LeadsGlobally(now) {
		s.global = true
		stamps, _ := s.election.QuorumStamp(now)
		s.notify(Event{Kind: EventGlobalElected, Peer: s.cfg.Self.Node, Support: stamps.Voters()})
	}
	if to, _ := s.election.Locked(now); to != s.following && (to != s.cfg.Self || s.leading) {
		s.following = to
		s.notify(Event{Kind: EventFollowing, Peer: to.Node, Boot: to.Boot})
	}
}

// observeAlive reports the peers that came alive and those that no longer are.
func (s *Stack) observeAlive(now timed.Instant, alive timed.Set) {
	for id := range alive.Minus(s.alive).All() {
		s.notify(Event{Kind: EventPeerAlive, Peer: id, Bound: s.datagrams.LastDelay(id).Bound})
	}
	if s.epochs.machine != nil {
		s.outbox.epochTo = s.outbox.epochTo.Union(alive.Minus(s.alive)) // they may have missed an epoch
	}
	for id := range s.alive.Minus(alive).All() {
		age, heard := s.datagrams.LastFast(now, id)
		deaf := heard && s.cfg.Timing.Deaf(age)
		s.notify(Event{Kind: EventPeerSilent, Peer: id, Age: age, Bound: s.datagrams.LastDelay(id).Bound, Deaf: deaf})
	}
	s.alive = alive
}

// Hears returns the peers that this node hears at now, also those that do not hear this node.
func (s *Stack) Hears(now timed.Instant) timed.Set {
	heard := s.datagrams.Alive(now)
	for id := range s.datagrams.Peers().All() {
		if age, ok := s.datagrams.LastFast(now, id); ok && s.cfg.Timing.Deaf(age) {
			heard.Add(id)
		}
	}
	return heard
}

// suspectClocks takes evidence that the clock of a peer or of this node broke ρ. A node
// with such evidence against more than half of the peers that it hears suspects its own
// clock.
func (s *Stack) suspectClocks(now timed.Instant, from timed.Incarnation, d datagram.Delay) {
	s.notify(Event{Kind: EventClockFault, Peer: from.Node, Boot: from.Boot, Bound: d.Bound})
	if faulty, heard := s.datagrams.Faults(now); !s.suspect && 2*faulty > heard {
		s.suspect = true
		s.notify(Event{Kind: EventRestart, Peer: from.Node})
	}
}
