package datagram

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

// Each invariant is noticed when it is broken, and none before.
func TestAudits(t *testing.T) {
	for invariant, breakIt := range map[string]func(*Service){
		"an alive node that is no peer": func(s *Service) { s.alive.Add(9) },
		"a node that is its own peer":   func(s *Service) { s.known.Add(1) },

		"a refusal of a node that is no peer": func(s *Service) { s.duplicate.by.Add(9) },
	} {
		s := New(Config{Self: timed.Incarnation{Node: 1, Boot: 1}, Timing: timed.LAN()}, 0)
		s.AddPeer(0, 2)
		require.Empty(t, s.Audit())
		breakIt(s)
		require.Contains(t, s.Audit(), invariant)
	}
}
