package membership

import (
	"time"

	"github.com/failaware/failaware/timed"
)

// HandlePart takes the view part of a request that this node, a member, supports. sent
// is the packet's stamp on the leader's clock, and received is its arrival on this
// node's clock. bound is the delay bound of the packet in real time.
func (s *Service) HandlePart(now timed.Instant, from timed.Incarnation, p *Part,
	sent, received timed.Instant, bound time.Duration, out []Effect) []Effect {
	if p.Kind == NoPart || p.ID.Leader != from.Node || p.ID.Boot != from.Boot || p.ID.Sequence > reachable {
		return out
	}
	switch p.Kind {
	case Propose:
		return s.acknowledge(p, out)
	case Commit:
		if p.ID == s.resignedID {
			return out
		}
		if p.ID != s.acked || !p.View.Has(s.cfg.Self) {
			return out
		}
		if s.installed == nil || s.installed.ID != p.ID {
			out = s.install(p.View, out)
		}
	case Renew:
		if s.installed == nil || s.installed.ID != p.ID || p.ID == s.resignedID {
			return out
		}
		if p.ID != s.acked {
			return out // never renew a view older than the acknowledged proposal
		}
	}
	return s.extend(now, s.leaseEnd(p.Until, sent, received, bound), out)
}

// leaseEnd returns the end, on this node's clock, of a lease that ends at until on the
// leader's: R + remaining(1−2ρ) − 3γ − ub(m)(1+ρ).
func (s *Service) leaseEnd(until, sent, received timed.Instant, bound time.Duration) timed.Instant {
	rho := s.cfg.Timing.MaxDrift
	remaining := until.Sub(sent)
	if remaining <= 0 {
		return 0
	}
	return received.Add(rho.Trust(remaining) - rho.Upper(bound))
}

func (s *Service) acknowledge(p *Part, out []Effect) []Effect {
	if p.View == nil || p.View.ID != p.ID {
		return out
	}
	if !p.View.Has(s.cfg.Self) {
		return out
	}
	if p.ID.Sequence <= max(s.acked.Sequence, s.cfg.Sequence) {
		return out // known or superseded; the report names the later proposal
	}
	s.acked = p.ID
	s.NoteSequence(p.ID.Sequence)
	return s.drop(Proposed, p.ID.Leader, out)
}

// HandleResign takes a leader's message that it gives up a view. Its last effect is
// SendDropped if the view is that leader's.
func (s *Service) HandleResign(_ timed.Instant, from timed.Incarnation, id ViewID, out []Effect) []Effect {
	if id.Leader != from.Node || id.Boot != from.Boot {
		return out
	}
	if id == s.acked {
		s.resignedID = id // only the acknowledged view can be installed or renewed
	}
	if s.installed != nil && s.installed.ID == id {
		out = s.drop(LeaderResigned, from.Node, out)
	}
	return append(out, Effect{Kind: SendDropped, Peer: from.Node, ID: id})
}

// install makes v the installed view.
func (s *Service) install(v *View, out []Effect) []Effect {
	previous := s.installedID()
	out = s.drop(Proposed, v.ID.Leader, out)
	s.installed = v
	return append(out, Effect{Kind: Installed, View: v, Previous: previous})
}

// extend makes the installed view valid until the given instant at least.
func (s *Service) extend(now, until timed.Instant, out []Effect) []Effect {
	s.validUntil = timed.Later(s.validUntil, until)
	if !s.fresh && now < s.validUntil {
		s.fresh = true
		out = append(out, Effect{Kind: Fresh, View: s.installed})
	}
	return out
}

// drop ends the lease on the installed view at once.
func (s *Service) drop(why Reason, by timed.NodeID, out []Effect) []Effect {
	s.validUntil = 0
	if s.fresh {
		s.fresh = false
		out = append(out, Effect{Kind: Stale, View: s.installed, Reason: why, Peer: by})
	}
	return out
}
