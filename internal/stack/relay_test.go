package stack

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/timed"
)

// collating returns a group, led by node 1, in which replies are collated.
func collating(t testing.TB, n int) *wired {
	w := newWiredOf(n, Config{Collation: leader.Collation{Above: 3, Fanout: 2}})
	w.pass(500 * time.Millisecond)
	require.True(t, w.nodes[0].Leads(w.now))
	require.Equal(t, n, w.nodes[0].Election().Support().Len())
	return w
}

// catch lets time pass until a collated packet is on its way to a node, and takes the packet
// from the wire.
func (w *wired) catch(t testing.TB, to timed.NodeID) *wire.Packet {
	return w.catchFrame(t, to, wire.FrameCollated)
}

// catchFrame does the same for another frame.
func (w *wired) catchFrame(t testing.TB, to timed.NodeID, frame wire.Frames) *wire.Packet {
	for range 1000 {
		for i, b := range w.flight {
			p := new(wire.Packet)
			require.NoError(t, new(wire.Decoder).Decode(b, p))
			if p.Has(frame) && p.Header.Destination == to {
				w.flight, w.to = slices.Delete(w.flight, i, i+1), slices.Delete(w.to, i, i+1)
				return p
			}
		}
		w.turn()
		w.now = w.now.Add(200 * time.Microsecond)
	}
	require.Fail(t, "no such frame is sent", "to node %d", to)
	return nil
}

// forwarded returns the collated packets among the effects of a turn.
func forwarded(out []Effect) (n int) {
	for i := range out {
		if p := out[i].Packet; p != nil && p.Has(wire.FrameCollated) {
			n++
		}
	}
	return n
}

// repliesTo reports whether the effects of a turn send a vote, or a refusal, to a node itself.
func repliesTo(out []Effect, id timed.NodeID, support bool) bool {
	return slices.ContainsFunc(out, func(e Effect) bool {
		return e.Packet != nil && e.Peer == id && e.Packet.Has(wire.FrameReply) && e.Packet.Reply.Support == support
	})
}

func TestALeaderHearsItsChildrenAndSeldomOtherNodes(t *testing.T) {
	w := collating(t, 15)
	direct, collated, from := 0, 0, w.now
	var speakers timed.Set
	for end := from.Add(800 * time.Millisecond); w.now < end; w.now = w.now.Add(200 * time.Microsecond) {
		for i, b := range w.flight {
			var p wire.Packet
			require.NoError(t, w.dec.Decode(b, &p))
			if w.to[i] != 0 {
				continue
			}
			if !p.Has(wire.FrameCollated) {
				direct++
				continue
			}
			collated++
			speakers.Add(p.Header.Source)
			require.Len(t, p.Collated.Replies, 7, "one packet has the replies of a whole branch")
		}
		w.turn()
	}
	require.Equal(t, timed.SetOf(2, 3), speakers)
	// Twelve others have a packet for every eight keepalive periods of 25 ms.
	require.InDelta(t, 12*4, direct, 12)
	require.Greater(t, collated, 2*30)
	require.Equal(t, 15, w.nodes[0].Election().Support().Len())
	for _, s := range w.nodes {
		require.True(t, s.Membership().UpToDate(w.now), "node %d", s.Self().Node)
		require.Equal(t, 14, s.Datagram().Alive(w.now).Len(), "node %d", s.Self().Node)
	}
}

// Collated replies do not have what members say about the broadcast, so all of them send
// packets of their own to the leader.
func TestALeaderHearsAllMembersOfTheBroadcast(t *testing.T) { sparesNoMember(t) }

func sparesNoMember(t testing.TB) {
	w := newWiredOf(7, Config{Collation: leader.Collation{Above: 3, Fanout: 2}, Broadcast: &broadcast.Config{}})
	w.pass(500 * time.Millisecond)
	require.Equal(t, 7, w.nodes[0].Election().Support().Len())
	direct := make([]int, 8)
	for end := w.now.Add(800 * time.Millisecond); w.now < end; w.now = w.now.Add(200 * time.Microsecond) {
		for i, b := range w.flight {
			var p wire.Packet
			require.NoError(t, w.dec.Decode(b, &p))
			if w.to[i] == 0 && !p.Has(wire.FrameCollated) {
				direct[p.Header.Source]++
			}
		}
		w.turn()
	}
	for id, n := range direct[4:] { // those of its children have the replies of their branches
		require.Greater(t, n, 800/25/2, "node %d", id+4)
	}
}

func TestASlowHopIsNotPassedOn(t *testing.T) { slowHop(t) }

func slowHop(t testing.TB) {
	w := collating(t, 7)
	p := w.catch(t, 2)
	inTime := w.now
	require.Positive(t, p.Collated.Replies[0].Voter.Node)
	late := inTime.Add(2 * timed.LAN().FastThreshold)
	out := w.nodes[1].HandlePacket(late, late, p, nil)
	kind, d := w.nodes[1].LastPacket()
	require.Equal(t, datagram.Delivered, kind)
	require.False(t, d.Fast)
	for i := range out {
		if q := out[i].Packet; q != nil && q.Has(wire.FrameCollated) {
			require.NotContains(t, q.Collated.Replies, p.Collated.Replies[0], "it came too slowly to be passed on")
		}
	}
}

func TestARelayedReplyIsOfTheAcceptedIncarnation(t *testing.T) { otherBoot(t) }

func otherBoot(t testing.TB) {
	w := collating(t, 7)
	p := w.catch(t, 1)
	i := slices.IndexFunc(p.Collated.Replies, func(r wire.Relayed) bool { return r.Voter.Node != p.Header.Source })
	p.Collated.Replies[0], p.Collated.Replies[i] = p.Collated.Replies[i], p.Collated.Replies[0]
	v := &p.Collated.Replies[0]
	v.Voter.Boot++
	w.nodes[0].HandlePacket(w.now, w.now, p, nil)
	vote, ok := w.nodes[0].Election().Vote(v.Voter.Node)
	require.True(t, ok)
	require.NotEqual(t, v.Voter.Boot, vote.Boot, "another incarnation's vote counted")
	counted, _ := w.nodes[0].Election().Vote(p.Header.Source)
	require.Equal(t, p.Collated.Number, counted.Number, "the others count")
}

func TestRepliesThatCannotWaitGoToTheRequester(t *testing.T) {
	w := collating(t, 7)
	p := w.catch(t, 2)
	// The relay collects for another request: these replies are sent at once.
	other := *p
	c := wire.Collated{Leader: incarnationOf(4), Number: p.Collated.Number + 1, Replies: p.Collated.Replies}
	w.nodes[1].relay.waiting = true
	other.Collated = &c
	other.Header.Counter++
	out := w.nodes[1].HandlePacket(w.now, w.now, &other, nil)
	require.Equal(t, 1, forwarded(out))
	for i := range out {
		if q := out[i].Packet; q != nil && q.Has(wire.FrameCollated) {
			require.Equal(t, timed.NodeID(4), out[i].Peer)
			require.Equal(t, c.Replies, q.Collated.Replies)
		}
	}
}

func TestRepliesThatOvertakeTheRequestWaitForIt(t *testing.T) {
	w := collating(t, 7)
	p := w.catch(t, 2)
	s := w.nodes[1]
	s.relay.flush()
	c := *p.Collated
	c.Number++
	c.Replies = slices.Clone(c.Replies)
	for i := range c.Replies {
		c.Replies[i].Reply.Number = c.Number
	}
	p.Collated = &c
	require.Zero(t, forwarded(s.HandlePacket(w.now, w.now, p, nil)))
	due := s.Deadline()
	require.LessOrEqual(t, due, w.now.Add(timed.LAN().FastThreshold/2))
	sent := 0
	for at := due; sent == 0 && at <= w.now.Add(timed.LAN().FastThreshold); at = timed.Later(at+1, s.Deadline()) {
		sent = forwarded(s.HandleTimeout(at, nil))
	}
	require.Equal(t, 1, sent, "without the request they go to the requester")
}

// Replies that do not fit into one packet leave in several, and none is lost.
func TestAsManyPacketsAsTheRepliesNeed(t *testing.T) {
	var r relay
	var replies []wire.Relayed
	for id := timed.NodeID(255); id > 0; id-- {
		v := wire.Relayed{Voter: incarnationOf(id), Reply: leader.Reply{Number: 7, Support: true}}
		if id > 120 { // no two alike
			v.Reply.Prefers = id
		}
		replies = append(replies, v)
	}
	r.send(1, incarnationOf(2), 7, replies)
	var back []wire.Relayed
	for i := range r.packets[:r.used] {
		c := &r.packets[i].packet
		require.Equal(t, len(c.Replies), wire.FitReplies(c.Replies))
		back = append(back, c.Replies...)
	}
	require.Equal(t, replies, back)
	require.Greater(t, r.used, 1)
	require.Less(t, r.used, 20)
}

// A node that has lost its parent in the tree answers the requester itself, and one that has lost
// a child waits for the others only.
func treeOfTheLiving(t testing.TB) {
	w := collating(t, 7) // node 3 is the parent of nodes 6 and 7
	p := w.catchFrame(t, 7, wire.FrameTree)
	orphan := w.nodes[6]
	orphan.RemovePeer(w.now, 3)
	require.True(t, repliesTo(orphan.HandlePacket(w.now, w.now, p, nil), 1, true))

	w = collating(t, 7)
	p = w.catchFrame(t, 3, wire.FrameTree)
	s := w.nodes[2]
	s.RemovePeer(w.now, 7)
	s.HandlePacket(w.now, w.now, p, nil)
	require.Equal(t, timed.SetOf(6), s.relay.expect)
}

func TestOnlyTheLivingHaveAPlaceInTheTree(t *testing.T) { treeOfTheLiving(t) }

// A relay waits from when the first packet came, however late its turn is: the requester counts
// the replies for a time that begins with the request.
func TestARelayWaitsFromTheArrival(t *testing.T) {
	share := timed.LAN().FastThreshold / 2 // of the first of two levels
	w := collating(t, 7)
	p := w.catchFrame(t, 3, wire.FrameTree)
	s := w.nodes[2]
	s.HandlePacket(w.now.Add(time.Millisecond), w.now, p, nil)
	require.True(t, s.relay.waiting)
	require.Equal(t, w.now.Add(share), s.relay.until)

	w = collating(t, 7)
	p = w.catch(t, 2) // before the request
	s = w.nodes[1]
	s.relay.flush()
	p.Collated.Number++
	s.HandlePacket(w.now.Add(time.Millisecond), w.now, p, nil)
	require.True(t, s.relay.waiting)
	require.Equal(t, w.now.Add(share), s.relay.until)
}

// The replies to one request leave when the next one comes, and go where those belong.
func nextRequestFlushes(t testing.TB) {
	var r relay
	reply := wire.Relayed{Voter: incarnationOf(3), Reply: leader.Reply{Number: 7, Support: true}}
	r.begin(incarnationOf(1), 7)
	r.to = 2
	r.add(&reply)
	r.begin(incarnationOf(4), 8)
	require.Equal(t, 1, r.used)
	sent := &r.packets[0]
	require.Equal(t, timed.NodeID(2), sent.to)
	require.Equal(t, wire.Collated{Leader: incarnationOf(1), Number: 7, Replies: []wire.Relayed{reply}}, sent.packet)
}

func TestTheNextRequestSendsTheRepliesToTheLast(t *testing.T) { nextRequestFlushes(t) }

// Replies that leave in a turn stay as they are while others are collected in it.
func TestRepliesThatLeaveStay(t *testing.T) {
	var r relay
	for id := range timed.NodeID(2) {
		r.begin(timed.Incarnation{Node: 9, Boot: 1}, timed.Instant(id))
		r.add(&wire.Relayed{Voter: incarnationOf(id + 1)})
	}
	r.flush()
	for i, p := range r.packets[:r.used] {
		require.Equal(t, incarnationOf(timed.NodeID(i+1)), p.packet.Replies[0].Voter)
	}
	require.Equal(t, 2, r.used)
}
