package demo

import (
	"fmt"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/event"
)

// followers returns the n-th pair of nodes that do not lead.
func (s *story) followers(n int) (a, b failaware.NodeID) {
	rest := s.all.Without(s.leader)
	for range n {
		rest.Remove(rest.Min())
		rest.Remove(rest.Min())
	}
	return rest.Min(), rest.Next(rest.Min())
}

func (s *story) cutOneWay() error {
	a, b := s.followers(0)
	s.Cut(true, Pair{a, b})
	return nil
}

// deaf waits until neither end of the cut link counts the other as alive.
func (s *story) deaf() (string, bool, error) {
	a, b := s.followers(0)
	atA, atB := s.hears(a, b), s.hears(b, a)
	got, _, _, ok := s.agree(s.all)
	return fmt.Sprintf("packets %v → %v are lost: %s, %s; %s", a, b, aliveText(b, atA, a), aliveText(a, atB, b), got),
		ok && atA.ID != 0 && atB.ID != 0 && !atA.Alive && !atB.Alive, nil
}

func (s *story) slowDown() error {
	a, b := s.followers(1)
	s.Slow(true, Pair{a, b}, Pair{b, a})
	return nil
}

// slowed waits until both ends of the slow link notice that it is slow.
func (s *story) slowed() (string, bool, error) {
	a, b := s.followers(1)
	atA, atB := s.hears(a, b), s.hears(b, a)
	got, _, _, ok := s.agree(s.all)
	slow := func(p failaware.PeerStatus) bool {
		return p.ID != 0 && !p.Fast && !p.Alive && p.Delay > s.timing.FastThreshold && p.Delay != event.UnknownDelay
	}
	return fmt.Sprintf("%v ↔ %v takes at most %s and %s, fast is up to %v; %s, %s; %s", a, b, short(atA.Delay), short(atB.Delay),
			s.timing.FastThreshold, aliveText(b, atA, a), aliveText(a, atB, b), got),
		ok && slow(atA) && slow(atB), nil
}

// whole waits until all nodes are alive for all others.
func (s *story) whole() (string, bool, error) {
	for a := range s.all.All() {
		for b := range s.all.Without(a).All() {
			if p := s.hears(a, b); !p.Alive || !p.Fast {
				return aliveText(b, p, a), false, nil
			}
		}
	}
	got, _, _, ok := s.agree(s.all)
	return "all nodes hear each other in time; " + got, ok, nil
}

// hears returns the knowledge of a node about a peer.
func (s *story) hears(at, peer failaware.NodeID) failaware.PeerStatus {
	if n := s.Node(at); n != nil {
		for _, p := range n.Status().Peers {
			if p.ID == peer {
				return p
			}
		}
	}
	return failaware.PeerStatus{}
}

func aliveText(peer failaware.NodeID, p failaware.PeerStatus, at failaware.NodeID) string {
	if p.Alive {
		return fmt.Sprintf("%v is alive for %v", peer, at)
	}
	return fmt.Sprintf("%v is not alive for %v", peer, at)
}
