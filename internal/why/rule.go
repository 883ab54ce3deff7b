package why

import (
	"fmt"

	"github.com/failaware/failaware/event"
	"github.com/failaware/failaware/internal/brief"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// rule returns the rule by which an event followed, in a sentence or two, with the
// settings of the node. docs/internals/protocol.md has the rules with their reasons.
func rule(e event.Event, t *timed.Timing) string {
	switch e := e.(type) {
	case event.PeerAlive, event.PeerSilent, event.PeerRestarted, event.PeerCloned, event.PeerDuplicated, event.PeerForgot, event.Mismatch:
		return peerRule(e, t)
	case event.Elected:
		if e.Global {
			return "A leader leads globally while the votes behind its lease hold a quorum."
		}
		return fmt.Sprintf("A node leads when every node that it hears votes for it or has a reason not to. The lease lasts for %s and is renewed every %s.",
			brief.Duration(t.MaxDrift.Trust(t.LockTime)), brief.Duration(t.ElectionPeriod))
	case event.LeadLost:
		return lostRule(e, t)
	case event.Following:
		if e.Leader == timed.NoNode {
			return fmt.Sprintf("A vote binds for %s, unless the leader gives it back earlier.", brief.Duration(t.LockTime))
		}
		return "A node votes for the best contender that it hears, and for one at a time."
	case event.ViewInstalled:
		return "The members of a view are the nodes that vote for its leader. A member that missed one round is kept if it is alive and did not refuse."
	case event.ViewStale:
		return staleRule(e)
	case event.ClockFault:
		return fmt.Sprintf("All clocks keep a drift of at most %v. A delay below the least one that is possible (%s), or offsets without a common point, prove that one of the two does not.",
			t.MaxDrift, brief.Duration(t.MinDelay))
	case event.ClockAdopted, event.ClockStepped:
		return "Group time is the clock of the leader. A new leader continues from the time that it shows; a follower steps only when the difference is above the step threshold, or when it had no group time before."
	case event.Falseticker:
		return "UTC is what lies within the intervals of most references. A reference outside is left out."
	}
	return ""
}

func peerRule(e event.Event, t *timed.Timing) string {
	switch e := e.(type) {
	case event.PeerAlive:
		return fmt.Sprintf("A peer is alive when packets with a proven delay of at most %s come from it, and show that it hears this node as well.",
			brief.Duration(t.FastThreshold))
	case event.PeerSilent:
		if e.Deaf {
			return fmt.Sprintf("A peer is alive only while it hears this node: its packets must name a packet of this node that came within %s.",
				brief.Duration(t.Expires))
		}
		return fmt.Sprintf("A peer is alive for %s after its last packet with a proven delay of at most %s, less the age that this node's latest packet had for it.",
			brief.Duration(t.Expires), brief.Duration(t.FastThreshold))
	case event.PeerRestarted:
		return "Votes and clock readings are those of an incarnation. Nothing of the former one counts any more."
	case event.PeerCloned:
		return "Each start draws a random boot id, so two processes with one boot id are copies of one memory."
	case event.PeerDuplicated:
		return "A peer of which packets came before and after one of another process with its id was not restarted. The one that was heard first counts while its packets come."
	case event.PeerForgot:
		return "A voter counts its starts in its state directory before it speaks, so the number in its votes grows with each one."
	case event.Mismatch:
		return "Promises rest on settings that are the same at every node, so nodes that differ ignore each other."
	}
	return ""
}

func lostRule(e event.LeadLost, t *timed.Timing) string {
	switch e.Reason {
	case leader.Outranked:
		return "A leader gives up when it hears a request of a contender that ranks higher: by weight, then one that leads more nodes, then the smaller id, as the settings say."
	case leader.LeaseExpired:
		return fmt.Sprintf("A lease lasts for %s from the request. It is renewed only by a round that every supporter answers in time.",
			brief.Duration(t.MaxDrift.Trust(t.LockTime)))
	case leader.NoQuorum:
		return "A global lease needs the votes of a quorum in every round."
	}
	return ""
}

func staleRule(e event.ViewStale) string {
	switch e.Reason {
	case membership.LeaseExpired:
		return "A view is up to date while the leader renews its lease, and a lease is no longer than the shortest vote of a member."
	case membership.Proposed:
		return "Nobody calls a view up to date once it has acknowledged the next one, because others may have that already."
	case membership.LeadEnded, membership.LeaderResigned:
		return "A view is over with the lead of its leader."
	}
	return ""
}
