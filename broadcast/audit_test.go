package broadcast

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/membership"
)

// Each invariant is noticed when it is broken, and none before.
func TestAudits(t *testing.T) {
	for invariant, breakIt := range map[string]func(*Service){
		"in an older view":          func(s *Service) { s.view = &membership.View{ID: membership.ViewID{Sequence: 2}} },
		"a delivery that is undone": func(s *Service) { s.position-- },
		"an unknown decision":       func(s *Service) { s.have = s.known + 1 },
		"given back twice":          func(s *Service) { s.lent = -1 },
		"used again":                func(s *Service) { s.own[ClassOrdered]-- },
		"before it is numbered":     func(s *Service) { s.sent[ClassOrdered] = s.own[ClassOrdered] + 1 },
		"no longer stable":          func(s *Service) { s.stable[WeakAtomicity]-- },
		"taken back":                func(s *Service) { s.floor-- },
	} {
		s := &Service{view: &membership.View{ID: membership.ViewID{Sequence: 3}}, position: 4, known: 7, have: 7}
		s.own[ClassOrdered], s.stable[WeakAtomicity] = 5, 6
		require.Empty(t, s.Audit())
		require.Empty(t, s.Audit())
		breakIt(s)
		require.Contains(t, s.Audit(), invariant)
	}
}
