package datagram

// Audit returns the first invariant that the state breaks, in words, or "". A node with
// such a state must end its incarnation.
func (s *Service) Audit() string {
	switch {
	case !s.alive.Subset(s.known):
		return "an alive node that is no peer"
	case s.known.Has(s.cfg.Self.Node):
		return "a node that is its own peer"
	case !s.duplicate.by.Subset(s.known):
		return "a refusal of a node that is no peer"
	}
	return ""
}
