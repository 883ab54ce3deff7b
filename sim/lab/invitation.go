package lab

import (
	"time"

	"github.com/failaware/failaware/timed"
)

// Invitation is Garcia-Molina's invitation algorithm for asynchronous systems.
// Every process leads a group of its own at first; leaders look for each other,
// and invite each other's groups into a new one. It asks no failure detector:
// members check their leader themselves, and recover into a group of their own.
type Invitation struct {
	Self    timed.NodeID
	Ranking *Ranking
	// Reply is the time to wait for an answer. Check is the time between looks for other
	// leaders and between checks of the leader. Each better process adds Priority to
	// the wait before a merger.
	Reply, Check, Priority time.Duration

	status status
	leader timed.NodeID
	group  Group
	up     timed.Set // of a leader: the members of its group
	number uint64    // of the group made last

	found    timed.Set // other leaders
	answered timed.Set // the processes that accepted, or confirmed
	pending  Group     // the group that this process accepted
	step     step
	due      timed.Instant // of the step
}

// status is status_i of Garcia-Molina; a process that is down has none.
type status uint8

const (
	statusNormal   status = iota
	statusElection        // between groups
	statusReorganizing
)

// step is the event that a process waits for, at most until due.
type step uint8

const (
	stepRest      step = iota // until the next look or check
	stepLooks                 // a leader asked others whether they lead
	stepHesitates             // a leader found others, and lets better ones begin
	stepInvites               // a leader awaits those that accept
	stepReadies               // a leader awaits the confirmations
	stepAccepted              // an invited process awaits the answer
	stepJoined                // an accepted process awaits the start of the group
	stepChecks                // a member asked whether its leader is there
)

// NewInvitation returns a process of the invitation algorithm.
func NewInvitation(self timed.NodeID, r *Ranking, p Pace) *Invitation {
	return &Invitation{Self: self, Ranking: r, Reply: 2 * p.OneWay, Check: p.Period, Priority: 3 * p.OneWay}
}

// Start implements [Machine]. A process that restarts recovers. Its group numbers
// begin with the clock, which replaces a counter on disk.
func (v *Invitation) Start(now timed.Instant, _ timed.Set, out []Effect) []Effect {
	return v.recover(now, out)
}

// Elect implements [Machine]: the process looks for other leaders at once.
func (v *Invitation) Elect(now timed.Instant, _ timed.Set, out []Effect) []Effect {
	if v.status == statusNormal && v.leader == v.Self && v.step == stepRest {
		return v.look(now, out)
	}
	return out
}

func (v *Invitation) wait(now timed.Instant, s step, d time.Duration) { v.step, v.due = s, now.Add(d) }

// recover forms a group of this process alone, and looks for others.
func (v *Invitation) recover(now timed.Instant, out []Effect) []Effect {
	v.newGroup(now)
	v.status, v.leader, v.up = statusNormal, v.Self, timed.SetOf(v.Self)
	v.wait(now, stepRest, v.Check)
	return out
}

func (v *Invitation) newGroup(now timed.Instant) {
	v.number = max(v.number+1, uint64(max(now, 0)))
	v.group = Group{v.Self, v.number}
}

func (v *Invitation) look(now timed.Instant, out []Effect) []Effect {
	v.found = timed.Set{}
	v.wait(now, stepLooks, v.Reply)
	return toAll(v.Ranking.others(v.Self), Message{Kind: AreYouCoordinator}, out)
}

// merge invites the leaders that were found, and the members of this group.
func (v *Invitation) merge(now timed.Instant, out []Effect) []Effect {
	v.newGroup(now)
	v.status, v.answered = statusElection, timed.SetOf(v.Self)
	invited := v.found.Union(v.up).Without(v.Self)
	v.wait(now, stepInvites, 2*v.Reply) // there, on to the members, and back
	return toAll(invited, Message{Kind: Invite, Candidate: v.Self, Group: v.group}, out)
}

func (v *Invitation) ready(now timed.Instant, out []Effect) []Effect {
	v.status, v.up, v.answered = statusReorganizing, v.answered, timed.SetOf(v.Self)
	v.wait(now, stepReadies, v.Reply)
	return toAll(v.up.Without(v.Self), Message{Kind: Ready, Group: v.group, Members: v.up}, out)
}

// HandleMessage implements [Machine].
func (v *Invitation) HandleMessage(now timed.Instant, from timed.NodeID, m *Message, _ timed.Set, out []Effect) []Effect {
	switch m.Kind {
	case AreYouCoordinator:
		yes := v.status == statusNormal && v.leader == v.Self
		return append(out, Effect{from, Message{Kind: CoordinatorReply, Yes: yes}})
	case CoordinatorReply:
		if v.step == stepLooks && m.Yes {
			v.found.Add(from)
		}
	case Invite:
		return v.handleInvite(now, m, out)
	case Accept:
		yes := v.step == stepInvites && m.Group == v.group
		if yes {
			v.answered.Add(from)
		}
		return append(out, Effect{from, Message{Kind: AcceptReply, Group: m.Group, Yes: yes}})
	case AcceptReply:
		if v.step != stepAccepted || m.Group != v.pending {
			return out
		}
		if !m.Yes {
			return v.recover(now, out)
		}
		v.status, v.group, v.leader = statusReorganizing, v.pending, v.pending.Leader
		v.wait(now, stepJoined, 3*v.Reply)
	case Ready:
		return v.handleReady(now, from, m, out)
	case ReadyReply:
		if v.step == stepReadies && m.Group == v.group {
			v.answered.Add(from)
		}
	case AreYouThere:
		yes := v.leader == v.Self && m.Group == v.group && v.up.Has(from)
		return append(out, Effect{from, Message{Kind: ThereReply, Group: m.Group, Yes: yes}})
	case ThereReply:
		if v.step != stepChecks || m.Group != v.group {
			return out
		}
		if !m.Yes {
			return v.recover(now, out)
		}
		v.wait(now, stepRest, v.Check)
	}
	return out
}

func (v *Invitation) handleInvite(now timed.Instant, m *Message, out []Effect) []Effect {
	if v.status != statusNormal || m.Group.Leader == v.Self || m.Group.Leader != m.Candidate ||
		!v.Ranking.Members.Has(m.Candidate) {
		return out
	}
	if v.leader == v.Self {
		out = toAll(v.up.Without(v.Self).Without(m.Candidate), *m, out)
	}
	v.status, v.pending = statusElection, m.Group
	v.wait(now, stepAccepted, v.Reply)
	return append(out, Effect{m.Candidate, Message{Kind: Accept, Group: m.Group}})
}

func (v *Invitation) handleReady(now timed.Instant, from timed.NodeID, m *Message, out []Effect) []Effect {
	if m.Group != v.group || from != v.leader || v.leader == v.Self {
		return out
	}
	if v.step == stepJoined {
		v.status, v.up = statusNormal, m.Members
		v.wait(now, stepRest, v.Check)
	}
	if v.status != statusNormal {
		return out
	}
	return append(out, Effect{from, Message{Kind: ReadyReply, Group: m.Group}})
}

// HandleTimeout implements [Machine].
func (v *Invitation) HandleTimeout(now timed.Instant, _ timed.Set, out []Effect) []Effect {
	if now < v.due {
		return out
	}
	switch v.step {
	case stepRest:
		if v.leader == v.Self {
			return v.look(now, out)
		}
		v.wait(now, stepChecks, v.Reply)
		return append(out, Effect{v.leader, Message{Kind: AreYouThere, Group: v.group}})
	case stepLooks:
		if v.found.Empty() {
			v.wait(now, stepRest, v.Check)
			return out
		}
		v.wait(now, stepHesitates, time.Duration(v.Ranking.Place(v.Self))*v.Priority)
	case stepHesitates:
		return v.merge(now, out)
	case stepInvites:
		return v.ready(now, out)
	case stepReadies:
		if v.answered != v.up {
			return v.recover(now, out)
		}
		v.status = statusNormal
		v.wait(now, stepRest, v.Check)
	default: // an answer did not come
		return v.recover(now, out)
	}
	return out
}

// Deadline implements [Machine].
func (v *Invitation) Deadline() timed.Instant { return v.due }

// Claim implements [Machine].
func (v *Invitation) Claim(timed.Instant) Claim {
	c := Claim{Elected: v.leader, Until: timed.Never, Group: v.group, Normal: v.status == statusNormal, LeadUntil: timed.Never}
	c.Leads = c.Normal && v.leader == v.Self
	if !c.Normal {
		c.Elected = 0
	}
	return c
}
