package store

import (
	"fmt"

	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/replicate"
)

// noteObstacle keeps why the snapshot that a node may wait for does not come, until one comes
// or the view goes on without.
func (s *Store) noteObstacle(e replicate.Event) {
	switch e.(type) {
	case replicate.Refused, replicate.Stuck:
		text := e.String()
		s.obstacle.Store(&text)
	case replicate.Settled, replicate.Restored, replicate.Merged:
		s.obstacle.Store(nil)
	}
}

// waitsFor fills in why the state that this node waits for does not come.
func (s *Store) waitsFor(a *api.KVStatus, p *replicate.Progress) {
	now := p.Situation
	if why := s.obstacle.Load(); why != nil && (now == replicate.Transferring || now == replicate.Merging) {
		a.Obstacle = *why
	}
	if why := silent(p); why != "" {
		a.Obstacle = why
	}
}

// silent says which members have not reported their states, or "".
func silent(p *replicate.Progress) string {
	if p.Unreported.Empty() {
		return ""
	}
	return fmt.Sprintf("nodes %v have not reported their state; all must run with --kv", p.Unreported)
}
