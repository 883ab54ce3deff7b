package stack

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// atRest returns three nodes of which one leads for a while.
func atRest() (c *cluster, lead *Stack) {
	c = newCluster(3, leader.Stable)
	for c.leader() == nil {
		c.step(nil)
	}
	for range 1000 { // until the rounds have shown how fast replies come
		c.step(nil)
	}
	return c, c.leader()
}

// told is what a node has told a peer last.
type told struct {
	state  leader.State
	report membership.Report
}

// quietTellsNothing has three nodes elect a leader, lose it and elect another one, and
// compares each quiet packet with what its sender told before.
func quietTellsNothing(t testing.TB) {
	c := newCluster(3, leader.Stable)
	last, quiet := make(map[[2]timed.NodeID]told), 0
	patient := make(map[timed.Instant]bool) // requests by number, of all nodes
	look := func() {
		for i := range c.sent {
			p := &c.sent[i]
			link := [2]timed.NodeID{p.Header.Source, p.Header.Destination}
			if p.Has(wire.FrameRequest) {
				patient[p.Request.Number] = p.Header.Patient
			}
			if p.Header.Quiet && p.Has(wire.FrameReply) {
				require.True(t, patient[p.Reply.Number], "the requester waits for the reply")
			}
			before, known := last[link]
			now := told{p.State, before.report}
			if p.Has(wire.FrameReply) {
				now.report = p.Report
			}
			if p.Header.Quiet {
				quiet++
				require.True(t, known)
				require.Equal(t, before, now, "a quiet packet has no news")
				require.Zero(t, p.Frames&^(wire.FrameReply|wire.FrameStamp))
				require.True(t, c.stacks[link[0]-1].Datagram().Alive(c.now).Has(link[1]), "the peer has heard that it is heard")
			}
			last[link] = now
		}
	}
	for range 1500 {
		c.step(nil)
		look()
	}
	require.NotNil(t, c.leader())
	require.Greater(t, quiet, 50, "at rest most packets are quiet")
	lead := c.leader()
	lead.Election().RequestSoon() // and does not wait for quiet replies
	lead.due = c.now
	for range 100 {
		c.step(nil)
		look()
	}
	c.take(lead.Resign(c.now, nil))
	for range 400 {
		c.step(nil)
		look()
	}
	require.NotNil(t, c.leader())
}

func TestAQuietPacketHasNoNews(t *testing.T) { quietTellsNothing(t) }

// A peer that comes alive must hear at once that it is heard, even if nothing else is new.
func comesAlive(t testing.TB) {
	c, lead := atRest()
	away := c.stacks[lead.Self().Node%3]
	id := away.Self().Node
	for range 2 * timed.LAN().Expires.Milliseconds() {
		c.step(away)
	}
	first := make(map[timed.NodeID]bool)
	for range 300 {
		c.step(nil)
		for i := range c.sent {
			p := &c.sent[i]
			if s := c.stacks[p.Header.Source-1]; p.Header.Destination == id && s.Datagram().Alive(c.now).Has(id) && !first[p.Header.Source] {
				first[p.Header.Source] = true
				require.False(t, p.Header.Quiet, "node %d says to the peer that it hears it", p.Header.Source)
			}
		}
	}
	require.Len(t, first, 2)
}

func TestAPeerThatComesAliveIsToldAtOnce(t *testing.T) { comesAlive(t) }

// Replies wait only for requests that are due by the time. A leader with news is answered
// at once.
func hurriedRequest(t testing.TB) {
	c, lead := atRest()
	next := func() (patient bool) {
		for {
			c.step(nil)
			for i := range c.sent {
				if p := &c.sent[i]; p.Has(wire.FrameRequest) {
					return p.Header.Patient
				}
			}
		}
	}
	require.True(t, next())
	for lead.Election().Open() {
		c.step(nil)
	}
	lead.Election().RequestSoon()
	lead.due = c.now
	require.False(t, next())
	require.False(t, next(), "first the rounds must show again how fast replies come")
	for range 1000 {
		c.step(nil)
	}
	require.True(t, next())
}

func TestOnlyRequestsInTimeArePatient(t *testing.T) { hurriedRequest(t) }

// Where replies take long, the leader counts them when they come.
func slowReplies(t testing.TB) {
	c, lead := atRest()
	for range 300 {
		c.step(nil)
		for i := range c.sent {
			p := &c.sent[i]
			require.False(t, p.Has(wire.FrameRequest) && p.Header.Patient && lead.rest.slow > timed.LAN().FastThreshold/2)
		}
		for range 5 { // the replies wait
			c.now = c.now.Add(time.Millisecond)
		}
	}
	require.Greater(t, lead.rest.slow, timed.LAN().FastThreshold/2)
}

func TestSlowRepliesAreNotQuiet(t *testing.T) { slowReplies(t) }

// The leader looks for the replies to a patient request before the round is over, if they
// have not come by themselves.
func gathers(t testing.TB) {
	c, lead := atRest()
	requested := lead.Election().LastRequest()
	for lead.Election().LastRequest() == requested {
		c.step(nil)
	}
	require.True(t, lead.Election().Open())
	at := c.now.Add(timed.LAN().FastThreshold)
	require.Equal(t, at, lead.gatherAt(c.now))
	require.LessOrEqual(t, lead.Deadline(), at)
	for range 3 {
		c.step(nil)
	}
	require.False(t, lead.Election().Open())
	require.Equal(t, timed.Never, lead.gatherAt(c.now), "replies that have come need no look")
}

func TestTheLeaderGathersRepliesThatWait(t *testing.T) { gathers(t) }

// TestACommandDoesNotPutOffAGathering has a command come when the leader is about to look for
// replies: it must still be due, or it would wait for the end of the round.
func TestACommandDoesNotPutOffAGathering(t *testing.T) {
	c, lead := atRest()
	requested := lead.Election().LastRequest()
	for lead.Election().LastRequest() == requested {
		c.step(nil)
	}
	at := lead.gatherAt(c.now)
	require.Equal(t, at, lead.Deadline())
	lead.Settle(at)
	require.Equal(t, at, lead.Deadline())
}

// A quiet packet comes late by intent, which says nothing about its receiver.
func quietIsNotLate(t testing.TB) {
	c, lead := atRest()
	s := c.stacks[lead.Self().Node%3]
	var quiet []wire.Packet
	for len(quiet) == 0 {
		c.step(nil)
		for i := range c.sent {
			if p := c.sent[i]; p.Header.Quiet && p.Header.Destination == s.Self().Node {
				quiet = append(quiet, p)
			}
		}
	}
	received := c.now.Add(time.Millisecond)
	later := received.Add(2 * timed.LAN().SchedulingDelay)
	for later > c.now {
		c.step(nil)
	}
	s.HandlePacket(c.now, received, &quiet[0], nil)
	require.False(t, s.Election().Late(c.now))
	quiet[0].Header.Quiet = false
	s.HandlePacket(c.now, received, &quiet[0], nil)
	require.True(t, s.Election().Late(c.now))
}

func TestAQuietPacketIsNeverLate(t *testing.T) { quietIsNotLate(t) }
