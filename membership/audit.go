package membership

import "github.com/failaware/failaware/timed"

// audit has the values that the last call of Audit compared.
type audit struct{ acked, installed ViewID }

// Audit returns the first invariant that the state breaks at now, in words, or "". A
// node with such a state must end its incarnation. Call it at the end of each turn:
// some invariants compare the state with that of the last call.
func (s *Service) Audit(now timed.Instant) string {
	last := s.audit
	s.audit = audit{s.acked, s.installedID()}
	switch {
	case s.acked.Sequence < last.acked.Sequence || s.acked.Sequence == last.acked.Sequence && s.acked != last.acked:
		return "an acknowledgement of an older proposal"
	case s.sequence < s.acked.Sequence:
		return "an acknowledgement of an unknown sequence"
	case s.audit.installed.Sequence < last.installed.Sequence:
		return "an older view"
	case s.audit.installed.Sequence > s.acked.Sequence:
		return "a view that was not acknowledged"
	case s.audit.installed != last.installed && !s.installed.Has(s.cfg.Self):
		return "a view without this node"
	case now < s.validUntil:
		return s.auditLease()
	}
	return s.auditLead()
}

// auditLease returns an invariant that the lease on the installed view breaks, or "".
func (s *Service) auditLease() string {
	switch {
	case !s.fresh:
		return "a lease on a view that is reported stale"
	case s.installedID() != s.acked:
		return "a lease on a view that another proposal replaces"
	case s.installed.ID == s.resignedID:
		return "a lease on a view that its leader has given up"
	}
	return s.auditLead()
}

// auditLead returns an invariant that this node breaks as a leader, or "".
func (s *Service) auditLead() string {
	switch {
	case s.proposal != nil && (!s.leading || !s.acks.Subset(s.proposal.Set)):
		return "acknowledgements of nodes that are not proposed"
	case s.proposal != nil && len(s.lineage) != s.acks.Len():
		return "a lineage of others than have acknowledged"
	case s.view != nil && (!s.leading || s.view.ID.Leader != s.cfg.Self.Node || s.view.ID.Boot != s.cfg.Self.Boot):
		return "a committed view of another leader"
	}
	return ""
}
