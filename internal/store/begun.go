package store

import (
	"strings"

	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/replicate"
)

// noteBegun keeps what was said when the state began, if commands that were acknowledged before
// may be gone. Nothing that comes later brings them back.
func (s *Store) noteBegun(e replicate.Event) {
	if b, ok := e.(replicate.Begun); ok && b.Lossy {
		text := strings.ReplaceAll(b.String(), "a Storage", "--kv-dir")
		s.begun.Store(&text)
	}
}

// beganWith fills in what was lost before the state began, if that is possible.
func (s *Store) beganWith(a *api.KVStatus) {
	if text := s.begun.Load(); text != nil {
		a.Lossy = *text
	}
}
