package store

import "strings"

// noteDisk notes why the disk of the state has no room, or with nil that it has.
func (s *Store) noteDisk(err error) {
	text := ""
	if err != nil {
		text, _, _ = strings.Cut(err.Error(), "\n") // what follows has the same cause
	}
	s.full.Store(&text)
}

// fullDisk returns why the disk of the state has no room, or "". Without room this node applies
// nothing: it can take commands, but not say what comes of them.
func (s *Store) fullDisk() string {
	if text := s.full.Load(); text != nil {
		return *text
	}
	return ""
}
