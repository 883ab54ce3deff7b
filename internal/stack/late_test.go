package stack

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/timed"
)

// whole returns three nodes in one view, and their leader.
func whole() (c *cluster, s *Stack) {
	c = newCluster(3, leader.Stable)
	for s == nil || s.report().Installed.None() || s.views.Proposal() != nil {
		c.step(nil)
		s = c.leader()
	}
	return c, s
}

// run lets some milliseconds pass, while a node may be stopped and packets from another one
// to the first one may be lost. The packets that wait for the stopped node come at the end,
// with the instants at which they were received.
func (c *cluster) run(ms int, stops *Stack, lost timed.NodeID, at *Stack) {
	var waiting []wire.Packet
	var received []timed.Instant
	for range ms {
		kept := c.sent[:0]
		for _, p := range c.sent {
			if lost == timed.NoNode || p.Header.Source != lost || p.Header.Destination != at.Self().Node {
				kept = append(kept, p)
			}
		}
		c.sent = kept
		for _, p := range c.step(stops) {
			waiting, received = append(waiting, p), append(received, c.now)
		}
	}
	for i := range waiting {
		c.take(stops.HandleBatched(c.now, received[i], &waiting[i], nil))
	}
	if stops != nil {
		c.take(stops.HandleTimeout(c.now, nil))
	}
}

// says returns what the packets of a node say about its lateness.
func (c *cluster) says(t testing.TB, s *Stack) bool {
	for range 100 {
		for i := range c.sent {
			if p := &c.sent[i]; p.Header.Source == s.Self().Node {
				return p.State.Late
			}
		}
		c.step(nil)
	}
	require.Fail(t, "the node sends nothing")
	return false
}

func TestALateNodeSaysSo(t *testing.T) { lateNodeSaysSo(t) }

func lateNodeSaysSo(t testing.TB) {
	c, s := whole()
	require.False(t, c.says(t, s))
	for range 60 {
		c.step(s) // the packets for it are lost
	}
	c.take(s.HandleTimeout(c.now, nil))
	require.True(t, c.says(t, s))
	for _, other := range c.stacks {
		require.Equal(t, other == s, other.Election().Late(c.now))
		if other != s {
			c.run(2, nil, timed.NoNode, s)
			require.True(t, other.Election().Peer(s.Self().Node).Late, "the others know it")
		}
	}
	c.run(110, nil, timed.NoNode, s)
	require.False(t, c.says(t, s), "it has been timely for Expires")
}

// A packet that has waited for the node shows its lateness, even if no timer was due.
func TestALateLookAtThePacketsCounts(t *testing.T) { lateLook(t) }

func lateLook(t testing.TB) {
	c, s := whole()
	for len(c.sent) == 0 || c.sent[0].Header.Destination != s.Self().Node {
		c.step(nil)
	}
	p := c.sent[0]
	c.take(s.HandlePacket(c.now, c.now.Add(-4*time.Millisecond), &p, nil))
	require.False(t, s.Election().Late(c.now), "within SchedulingDelay")
	c.take(s.HandlePacket(c.now, c.now.Add(-6*time.Millisecond), &p, nil))
	require.True(t, s.Election().Late(c.now))
}

// A leader that was late does not leave a member behind because of a silence for which it
// may be to blame itself.
func TestALateLeaderLeavesNobodyBehind(t *testing.T) { lateLeader(t) }

func lateLeader(t testing.TB) {
	c, s := whole()
	view := s.report().Installed
	silent := timed.NodeID(1 + s.Self().Node%3)
	c.run(50, nil, silent, s)
	require.True(t, s.datagrams.Alive(c.now).Has(silent))
	c.run(60, s, silent, s)
	require.True(t, s.Leads(c.now))
	require.False(t, s.datagrams.Alive(c.now).Has(silent), "its packets of 110 ms are lost")
	c.run(150, nil, timed.NoNode, s)
	require.True(t, s.Leads(c.now))
	require.Equal(t, view, s.report().Installed, "the member was not left behind")
}

// A node that is late all the time drops a silent member all the same.
func TestLatenessIsNoExcuseForEver(t *testing.T) { lateForEver(t) }

func lateForEver(t testing.TB) {
	c, s := whole()
	view := s.report().Installed
	silent := timed.NodeID(1 + s.Self().Node%3)
	for range 40 {
		c.run(9, s, silent, s)
		c.run(1, nil, silent, s)
	}
	require.True(t, s.Election().Late(c.now))
	require.NotEqual(t, view, s.report().Installed)
	require.False(t, s.views.View().Set.Has(silent))
}

// A node that acts in time is never late, also when a turn leaves something to be done at once:
// that became due in the turn, however long ago the node could first have done it.
func timelyIsNotLate(t testing.TB) {
	c, lead := whole()
	for i := range 1000 {
		c.step(nil)
		for _, s := range c.stacks {
			require.False(t, s.Election().Late(c.now), "node %d", s.Self().Node)
		}
		if i > 500 {
			c.sent = nil // all are alone
		}
	}
	require.Equal(t, timed.SetOf(lead.Self().Node), lead.Membership().View().Set)
}

func TestANodeThatActsInTimeIsNotLate(t *testing.T) { timelyIsNotLate(t) }
