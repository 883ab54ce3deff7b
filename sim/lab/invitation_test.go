package lab

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/failaware/failaware/sim/fault"
	"github.com/failaware/failaware/timed"
)

// Stoller's three nodes: 1–2–3 end up in the groups {1, 2} and {3}, although 2
// and 3 are connected. Assertion 4 wants one group of them; Assertion 4' does not.
func TestInvitationAndStollersCounterexample(t *testing.T) {
	s := scenario(t, "stoller")
	for seed := range uint64(5) {
		o := outcome(t, "invitation", s, seed)
		require.ErrorContains(t, o.violation(t, Assertion4), "no process of the clique {2 3} leads it: process 2 follows 1")
		require.NoError(t, o.violation(t, Assertion4Prime))
		require.NoError(t, o.violation(t, Assertion3))
		require.NoError(t, violation(t, "local", s, seed, Assertion4Prime))
	}
}

// Where connectivity is transitive Assertion 4 is satisfied, and two groups merge.
func TestInvitationMerges(t *testing.T) {
	o := outcome(t, "invitation", scenario(t, "partition"), 1)
	for _, name := range []SpecName{Safety, Liveness, Assertion3, Assertion4, Assertion4Prime} {
		require.NoError(t, o.violation(t, name))
	}
}

// stillWorld draws a symmetric graph that is held still from the start on.
func stillWorld(t *rapid.T, most int) Scenario {
	n := rapid.IntRange(2, most).Draw(t, "n")
	var faults []fault.Fault
	for p := 1; p <= n; p++ {
		for q := p + 1; q <= n; q++ {
			if rapid.Bool().Draw(t, "cut") {
				faults = append(faults, fault.Fault{Kind: fault.Cut, Node: timed.NodeID(p), Peer: timed.NodeID(q)},
					fault.Fault{Kind: fault.Cut, Node: timed.NodeID(q), Peer: timed.NodeID(p)})
			}
		}
	}
	return Scenario{Name: "still", Nodes: n, Duration: 5 * time.Second, Faults: scripted(faults...)}
}

// Stoller's claim, and ours: in any graph held still, Assertion 4' is satisfied.
func TestAssertion4PrimeInStillWorlds(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		s, seed := stillWorld(r, 6), rapid.Uint64().Draw(r, "seed")
		for _, name := range []string{"invitation", "local"} {
			require.NoError(r, violation(t, name, s, seed, Assertion4Prime), name)
		}
		for _, name := range []SpecName{SO, LS, BI, T} {
			for _, v := range outcome(t, "local-strict", s, seed).Verdicts {
				require.True(r, v.Spec != name || v.Err == nil, "%s: %v", v.Spec, v.Err)
			}
		}
	})
}

// The waits by priority keep leaders from inviting each other at once. Without
// them elections take longer, and some do not end before the next fault.
func TestInvitationWaitsByPriority(t *testing.T) {
	a := algorithm(t, "invitation")
	plain := a.Machine
	a.Machine = func(self timed.NodeID, r *Ranking, p Pace) Machine {
		m := plain(self, r, p).(*Invitation)
		m.Priority = 0
		return m
	}
	var with, without Measure
	for seed := range uint64(6) {
		s := scenario(t, "crash")
		o, err := Run(a, s, seed)
		require.NoError(t, err)
		without.add(&o.Measure)
		o = outcome(t, "invitation", s, seed)
		with.add(&o.Measure)
	}
	require.Greater(t, with.Elections, without.Elections)
	require.Less(t, with.Worst, without.Worst)
}

// A process that was invited and hears nothing more recovers by itself.
func TestInvitedProcessRecovers(t *testing.T) {
	p := PaceOf(timed.LAN())
	v := NewInvitation(2, HighestID(3), p)
	all := timed.SetOf(1, 2, 3)
	v.Start(1, all, nil)
	own := v.Claim(1).Group
	g := Group{3, 77}
	out := v.HandleMessage(2, 3, &Message{Kind: Invite, Candidate: 3, Group: g}, all, nil)
	require.Equal(t, []Effect{{3, Message{Kind: Accept, Group: g}}}, out)
	require.False(t, v.Claim(2).Normal)
	require.Empty(t, v.HandleTimeout(v.Deadline(), all, nil))
	c := v.Claim(v.Deadline())
	require.True(t, c.Leads && c.Normal && c.Group != own && c.Group != g)
	// An answer that comes too late has no effect.
	require.Empty(t, v.HandleMessage(v.Deadline(), 3, &Message{Kind: AcceptReply, Group: g, Yes: true}, all, nil))
	require.True(t, v.Claim(v.Deadline()).Leads)
}

// A refusal makes a process recover at once: from the leader that it accepted,
// and from one that does not count it any more.
func TestRefusedProcessRecovers(t *testing.T) {
	all := timed.SetOf(1, 2, 3)
	g := Group{3, 77}
	invited := func() *Invitation {
		v := NewInvitation(2, HighestID(3), PaceOf(timed.LAN()))
		v.Start(1, all, nil)
		v.HandleMessage(2, 3, &Message{Kind: Invite, Candidate: 3, Group: g}, all, nil)
		return v
	}
	v := invited()
	v.HandleMessage(3, 3, &Message{Kind: AcceptReply, Group: g}, all, nil)
	require.True(t, v.Claim(3).Leads)

	v = invited()
	v.HandleMessage(3, 3, &Message{Kind: AcceptReply, Group: g, Yes: true}, all, nil)
	require.False(t, v.Claim(3).Normal)
	out := v.HandleMessage(4, 3, &Message{Kind: Ready, Group: g, Members: timed.SetOf(2, 3)}, all, nil)
	require.Equal(t, []Effect{{3, Message{Kind: ReadyReply, Group: g}}}, out)
	require.Equal(t, timed.NodeID(3), v.Claim(4).Elected)
	now := v.Deadline()
	require.Equal(t, []Effect{{3, Message{Kind: AreYouThere, Group: g}}}, v.HandleTimeout(now, all, nil))
	v.HandleMessage(now, 3, &Message{Kind: ThereReply, Group: g}, all, nil)
	require.True(t, v.Claim(now).Leads, "the leader does not count it")
}

// A leader gives up a group that not all have confirmed.
func TestUnconfirmedLeaderRecovers(t *testing.T) {
	all := timed.SetOf(1, 2, 3)
	for _, confirms := range []bool{true, false} {
		v := NewInvitation(3, HighestID(3), PaceOf(timed.LAN()))
		v.Start(1, all, nil)
		v.Elect(2, all, nil)
		v.HandleMessage(3, 1, &Message{Kind: CoordinatorReply, Yes: true}, all, nil)
		v.HandleMessage(3, 2, &Message{Kind: CoordinatorReply}, all, nil)
		v.HandleTimeout(v.Deadline(), all, nil) // it found 1, and hesitates
		out := v.HandleTimeout(v.Deadline(), all, nil)
		require.Len(t, out, 1, "2 leads nobody")
		g := out[0].Message.Group
		require.Equal(t, Effect{1, Message{Kind: AcceptReply, Group: g, Yes: true}}, v.HandleMessage(v.due-1, 1, &Message{Kind: Accept, Group: g}, all, nil)[0])
		out = v.HandleTimeout(v.Deadline(), all, nil)
		require.Equal(t, []Effect{{1, Message{Kind: Ready, Group: g, Members: timed.SetOf(1, 3)}}}, out)
		if confirms {
			v.HandleMessage(v.due-1, 1, &Message{Kind: ReadyReply, Group: g}, all, nil)
		}
		v.HandleTimeout(v.Deadline(), all, nil)
		c := v.Claim(v.due)
		require.True(t, c.Leads)
		require.Equal(t, confirms, c.Group == g)
	}
}
