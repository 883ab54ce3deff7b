package membership

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

// Each invariant is noticed when it is broken, and none before.
func audits(t testing.TB) {
	for invariant, breakIt := range map[string]func(*Service){
		"of an older proposal":   func(s *Service) { s.acked.Sequence-- },
		"of an unknown sequence": func(s *Service) { s.sequence = 0 },
		"an older view":          func(s *Service) { s.installed = &View{ID: ViewID{Leader: 1}} },
		"that was not acknowledged": func(s *Service) {
			s.installed = &View{ID: ViewID{s.acked.Sequence + 5, 1, 10}, Set: s.installed.Set, Members: s.installed.Members}
		},
		"a view without this node": func(s *Service) {
			s.acked.Sequence, s.sequence = 1000, 1000
			s.installed = &View{ID: s.acked}
		},
		"reported stale":                     func(s *Service) { s.fresh = false },
		"another proposal replaces":          func(s *Service) { s.acked.Sequence, s.sequence = 1000, 1000 },
		"its leader has given up":            func(s *Service) { s.resignedID = s.installed.ID },
		"nodes that are not proposed":        func(s *Service) { s.proposal, s.acks = &View{}, timed.SetOf(7) },
		"others than have acknowledged":      func(s *Service) { s.proposal, s.acks, s.lineage = s.view, timed.SetOf(1), nil },
		"committed view of another":          func(s *Service) { s.view = &View{ID: ViewID{1, 9, 90}} },
		"committed view of another leader":   func(s *Service) { s.view = &View{ID: ViewID{1, 9, 10}} },
		"a committed view of another leader": func(s *Service) { s.view = &View{ID: ViewID{1, 1, 90}} },
		"a committed view of another l":      func(s *Service) { s.leading = false },
	} {
		g := newTrio(t)
		g.form()
		s := g.leader
		require.True(t, s.UpToDate(now))
		require.Empty(t, s.Audit(now))
		require.Empty(t, s.Audit(now+1))
		breakIt(s)
		require.Contains(t, s.Audit(now), invariant)
	}
}

func TestAudits(t *testing.T) { audits(t) }
