package stack

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/timed"
)

// builds is a group of three whose nodes are of any builds, and have settings of their own: a
// packet in a version that its receiver does not speak is lost. Several processes may have one
// id.
type builds struct {
	now    timed.Instant
	nodes  []*build
	flight []wire.Packet
}

type build struct {
	*Stack
	newest uint8
	sent   uint64
	ended  bool          // its id is in use
	lost   int           // how often it has lost a peer
	alive  timed.Set     // its peers
	while  time.Duration // for which it has run
}

func newBuilds(newest uint8, timings ...timed.Timing) *builds {
	w := &builds{now: timed.Instant(time.Hour)}
	for i, t := range timings {
		w.add(timed.NodeID(i+1), newest, t)
	}
	w.run(2 * time.Second)
	return w
}

// add starts a process.
func (w *builds) add(id timed.NodeID, newest uint8, t timed.Timing) *build {
	peers := timed.SetOf(1, 2, 3)
	peers.Remove(id)
	self := timed.Incarnation{Node: id, Boot: timed.BootID(len(w.nodes) + 1)}
	n := &build{Stack: New(Config{Self: self, Timing: t, RankBy: leader.Stable, Newest: newest}, peers, w.now, 0), newest: newest}
	w.nodes = append(w.nodes, n)
	return n
}

// run lets all processes run for a time, in steps of a millisecond, which is how long packets
// take.
func (w *builds) run(d time.Duration) {
	for range d / time.Millisecond {
		w.now = w.now.Add(time.Millisecond)
		arrived := w.flight
		w.flight = nil
		for _, n := range w.nodes {
			if n.ended {
				continue
			}
			for _, p := range arrived {
				h := &p.Header
				if h.Destination == n.Self().Node && (h.Source != n.Self().Node) && h.Version <= n.newest {
					w.take(n, n.HandlePacket(w.now, w.now, &p, nil))
				}
			}
			w.take(n, n.HandleTimeout(w.now, nil))
			alive := n.Datagram().Alive(w.now)
			n.lost += n.alive.Minus(alive).Len()
			n.alive, n.while = alive, n.while+time.Millisecond
		}
	}
}

func (w *builds) take(n *build, out []Effect) {
	for i := range out {
		switch e := &out[i]; {
		case e.Kind == Send || e.Kind == SendBack:
			p := *e.Packet
			n.sent++
			p.Header.Stamp, p.Header.Counter = w.now, wire.FirstCounter(n.newest)+n.sent
			if p.Has(wire.FrameInUse) && p.Header.Version < wire.WithHeard {
				p.InUseAge = datagram.Unknown
			}
			w.flight = append(w.flight, p)
		case e.Kind == Notify && e.Event.Kind == EventDuplicateID:
			n.ended = true
		}
	}
}

// patient returns the timing of a local network with another Expires.
func patient(factor int) timed.Timing {
	t := timed.LAN()
	t.Expires *= time.Duration(factor)
	return t
}

// A second process with an id ends, whatever build it and the first one are of, and however
// seldom its peers send.
func secondProcessEnds(t testing.TB) {
	lan, slow := timed.LAN(), timed.LAN()
	slow.KeepalivePeriod, slow.Expires = 100*time.Millisecond, 300*time.Millisecond
	for _, peers := range []timed.Timing{lan, slow, patient(10)} {
		for version := uint8(wire.Oldest); version <= wire.Version; version++ {
			w := newBuilds(wire.Version, peers, lan, peers)
			second := w.add(2, version, lan)
			w.run(4 * lan.Expires)
			require.True(t, second.ended, "peers with %v and %v: build %d", peers.KeepalivePeriod, peers.Expires, version)
			require.False(t, w.nodes[1].ended)

			w = newBuilds(wire.Version, peers, lan, peers)
			w.nodes[1].ended = true // it is replaced by an older build, which a second process joins
			w.run(4 * peers.Expires)
			w.add(2, version, lan)
			w.run(time.Second)
			second = w.add(2, wire.Version, lan)
			w.run(4 * lan.Expires)
			require.True(t, second.ended, "beside build %d", version)
		}
	}
}

func TestASecondProcessEnds(t *testing.T) { secondProcessEnds(t) }

// A process that takes the place of another one does not take itself for a second one, however
// patient its peers are, of whatever build the former one was, and although that ended a little
// later than this one began.
func replacementStays(t testing.TB) {
	for _, factor := range []int{1, 3, 10} {
		for version := uint8(wire.Oldest); version <= wire.Version; version++ {
			for _, overlap := range []time.Duration{0, 30 * time.Millisecond, 100 * time.Millisecond} {
				lan, peers := timed.LAN(), patient(factor)
				w := newBuilds(wire.Version, peers, lan, peers)
				w.nodes[1].ended = true
				w.run(2 * peers.Expires)
				former := w.add(2, version, lan)
				w.run(time.Second)
				next := w.add(2, wire.Version, lan)
				w.run(overlap)
				former.ended = true
				w.run(2 * peers.Expires)
				require.False(t, next.ended, "peers with %v: after build %d, which ended %v later", peers.Expires, version, overlap)
				require.Equal(t, 2, next.alive.Len())
			}
		}
	}
}

func TestAReplacementStays(t *testing.T) { replacementStays(t) }

// Nodes at rest hear each other, whatever their keepalive periods are: members that hear of each
// other through their leader send to each other seldom, by their own periods.
func restIsQuiet(t testing.TB) {
	for _, period := range []time.Duration{3, 5, 12, 25} {
		for _, expires := range []time.Duration{81, 85, 100, 300} {
			short := timed.LAN()
			short.KeepalivePeriod, short.Expires = period*time.Millisecond, expires*time.Millisecond
			if _, err := short.Validate(); err != nil {
				continue
			}
			w := newBuilds(wire.Version, timed.LAN(), short, timed.LAN())
			w.run(10 * time.Second)
			for i, n := range w.nodes {
				require.LessOrEqual(t, n.lost, 1, "node %d loses peers, where node 2 has %v and %v", i+1, short.KeepalivePeriod, short.Expires)
			}
		}
	}
}

func TestNodesAtRestHearEachOther(t *testing.T) { restIsQuiet(t) }
