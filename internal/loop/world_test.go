package loop

import (
	"bytes"
	"hash"
	"hash/fnv"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/internal/loop/sendqueue"
	"github.com/failaware/failaware/internal/peers"
	"github.com/failaware/failaware/internal/seal"
	"github.com/failaware/failaware/internal/udp"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/timed"
)

// world is a group of loops in simulated time. The simulator of package sim runs stacks: what
// a loop adds to them, the order of publishing, sending and reporting, and how long a lead
// lasts for its users, shows only here. Everything is in one goroutine, and the seed alone
// says what happens.
type world struct {
	t      testing.TB
	random *rand.Rand
	now    int64 // true time
	nodes  []*inhabitant
	at     map[netip.AddrPort]*inhabitant // where each one receives
	way    []onTheWay
	cut    map[[2]timed.NodeID]bool
	still  bool // no packet is lost by chance
	uses   []*use
	ends   map[string]int // how often each thing was seen
	digest hash.Hash64    // of all that nodes sent, said and published
	joins  *joins         // nil: all nodes know each other from the start, have no keys, and stay
	disks  *disks         // nil: nothing outlives a process
}

// onTheWay is a packet that arrives at a time.
type onTheWay struct {
	at   int64
	to   netip.AddrPort
	data udp.Packet
}

// inhabitant is a loop of the world, with its clock and its connection.
type inhabitant struct {
	*fakeConn
	w         *world
	l         *Loop
	id        timed.NodeID
	drift     int64 // in parts per billion
	next      int64 // when it takes a turn
	arrived   []udp.Packet
	decoder   wire.Decoder
	packet    wire.Packet
	before    *Snapshot     // published before the turn
	leadUntil timed.Instant // of the lease after the last turn; 0 without one
	global    timed.Instant // the same for the global lease
	ring      *seal.Ring    // nil without keys
	own       opening       // of its own packets
	ended     int           // local leads
	endGlobal int           // global leads
	*machine                // nil without disks
}

// use is what a user of a node does during a lead, until the end of its context.
type use struct {
	of     *inhabitant
	phase  *Phase
	global bool
	lead   int  // how many leads had ended before it began
	seldom bool // it looks seldom, and may miss that the node did not lead for a while
}

func at7(id timed.NodeID) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), 7000+uint16(id))
}

func newWorld(t testing.TB, seed uint64, count int, cast *broadcast.Config) *world {
	w := emptyWorld(t, seed)
	var all timed.Set
	var list []peers.Peer
	for id := range timed.NodeID(count) {
		all.Add(id + 1)
		list = append(list, peers.Peer{ID: id + 1, Addr: at7(id + 1).String()})
	}
	system, err := quorum.Majority(all)
	require.NoError(t, err)
	for id := range all.All() {
		n := &inhabitant{w: w, id: id, drift: w.random.Int64N(180_001) - 90_000, next: w.now + w.random.Int64N(int64(10*time.Millisecond))}
		n.l, _ = newLoop(func(cfg *Config) {
			n.fakeConn = cfg.Conn.(*fakeConn)
			n.local = at7(id)
			cfg.Stack.Self.Node, cfg.Stack.Broadcast, cfg.Stack.Quorum, cfg.Stack.Epoch = id, cast, system, 1
			cfg.Conn, cfg.Sink, cfg.Random, cfg.Clock, cfg.Wall = n, n, w.random.Uint64, hwclock.Of(n.show), n.wall
			cfg.Peers = peers.NewResolver(peers.Options{Self: id, Changed: func() {}}, list)
		})
		w.nodes, w.at[n.local] = append(w.nodes, n), n
	}
	return w
}

func emptyWorld(t testing.TB, seed uint64) *world {
	return &world{t: t, random: rand.New(rand.NewPCG(seed, 0)), now: int64(time.Hour), at: map[netip.AddrPort]*inhabitant{},
		cut: map[[2]timed.NodeID]bool{}, ends: map[string]int{}, digest: fnv.New64a()}
}

// show is the hardware clock.
func (n *inhabitant) show() int64 {
	return int64(n.id)*1e12 + n.w.now + n.w.now/1e9*n.drift + n.w.now%1e9*n.drift/1e9
}

// wall is a clock that knows the time of day about as well as its machine.
func (n *inhabitant) wall() time.Time { return time.Unix(1_700_000_000, n.show()) }

// WriteBatch sends packets, each of which is held against what is published.
func (n *inhabitant) WriteBatch(pkts []udp.Packet) (int, error) {
	w := n.w
	if n.machine != nil && !w.disks.sound && w.random.IntN(500) == 0 {
		n.lookAtLeads()                                                        // they are published
		w.wait(n, time.Duration(w.random.Int64N(int64(400*time.Millisecond)))) // another process runs
		w.ends["preempted"]++
	}
	n.written += len(pkts)
	for i := range pkts {
		b := append(append([]byte(nil), pkts[i].Buf[:pkts[i].N]...), pkts[i].Tail...)
		n.decode(b)
		n.publishedBeforeSent(&n.packet)
		if n.machine != nil {
			n.machine.note(n, &n.packet)
		}
		_, _ = w.digest.Write(b)
		if w.joins != nil && !w.joins.sends(n, b, pkts[i].Addr) {
			continue
		}
		to := w.at[pkts[i].Addr]
		if to == nil {
			continue // its process is down
		}
		if w.cut[[2]timed.NodeID{n.id, to.id}] || w.random.IntN(50) == 0 && !w.still {
			continue
		}
		w.carry(b, n.local, pkts[i].Addr)
	}
	return len(pkts), nil
}

// carry lets a packet arrive later.
func (w *world) carry(b []byte, from, to netip.AddrPort) {
	delay := int64(100*time.Microsecond) + w.random.Int64N(int64(2*time.Millisecond))
	w.way = append(w.way, onTheWay{w.now + delay, to, udp.Packet{Buf: b, N: len(b), Addr: from}})
}

// decode reads a packet that the node sends, with its keys.
func (n *inhabitant) decode(b []byte) {
	t, b := n.w.t, bytes.Clone(b)
	if n.ring == nil {
		require.NoError(t, n.decoder.Decode(b, &n.packet))
		return
	}
	h, _, err := wire.ParseHeader(b)
	require.NoError(t, err)
	frames, _, err := n.own.frames(b, &h, originOf(&h))
	require.NoError(t, err, "node %v sends what its keys do not open", n.id)
	n.own.opener.Keep(0)
	require.NoError(t, n.decoder.DecodeFrames(h, frames, &n.packet))
}

func (n *inhabitant) Wake() { n.next = min(n.next, n.w.now) }

// over reports whether a lead that was published before the turn is over for its users.
func over(p *Phase) bool {
	select {
	case <-p.Over:
		return true
	default:
		return !p.Leads
	}
}

// publishedBeforeSent demands that readers know what others are about to learn: that a
// lead, or the lease of a view, has been given up.
func (n *inhabitant) publishedBeforeSent(p *wire.Packet) {
	t, s, now := n.w.t, n.l.Snapshot(), timed.Instant(n.show())
	if p.Settings != nil {
		return // it has nothing else
	}
	told := n.l.driver.routes.known.Has(p.Header.Destination) // and not another process with its own id
	if told && !p.State.Leading || p.Has(wire.FrameRelease) {
		require.True(t, over(n.before.Phase), "node %v tells others first that it gives up its lead", n.id)
	}
	if p.Has(wire.FrameBroadcast) {
		reach, ok := n.l.Reach()
		require.True(t, ok)
		require.Equal(t, n.l.driver.stack.BroadcastState().Reach(), reach, "node %v acknowledges first what readers must wait for", n.id)
		n.w.ends["messages"]++
	}
	if !p.State.Global {
		require.True(t, over(n.before.GlobalPhase), "node %v tells others first that it gives up its global lead", n.id)
	}
	if !s.UpToDate(now) {
		return
	}
	if p.Has(wire.FrameReply) {
		require.LessOrEqual(t, p.Report.Acknowledged.Sequence, s.View.ID.Sequence, "node %v has acknowledged another view", n.id)
	}
	if p.Has(wire.FrameDropped) {
		require.NotEqual(t, s.View.ID, p.Dropped, "node %v has dropped its view", n.id)
	}
	if p.Has(wire.FrameResign) {
		require.NotEqual(t, s.View.ID, p.Resign, "node %v has given up its view", n.id)
	}
}

// run lets the world go on for a while.
func (w *world) run(d time.Duration, strikes bool) {
	for end := w.now + int64(d); w.now < end; {
		next := end
		for _, n := range w.nodes {
			if n.machine == nil || !n.busy {
				next = min(next, n.next)
			}
		}
		if w.disks != nil {
			for _, s := range w.disks.starts {
				next = min(next, s.at)
			}
		}
		for i := range w.way {
			next = min(next, w.way[i].at)
		}
		w.now = max(w.now, next)
		w.arrive()
		if w.disks != nil {
			w.startDue()
		}
		for _, n := range slices.Clone(w.nodes) {
			switch {
			case n.next > w.now:
				continue
			case n.machine != nil:
				if !n.busy && slices.Contains(w.nodes, n) {
					w.turnOn(n)
				}
				continue
			}
			if n.turn(); w.joins != nil && n.l.driver.life.Over() {
				w.joins.ended(n)
			}
		}
		if strikes && w.random.IntN(300) == 0 {
			w.strike()
		}
		w.check()
	}
}

// arrive hands out the packets that have arrived.
func (w *world) arrive() {
	left := w.way[:0]
	for _, p := range w.way {
		if p.at > w.now {
			left = append(left, p)
			continue
		}
		to := w.at[p.to]
		if to == nil {
			continue // it has moved
		}
		p.data.Received = timed.Instant(to.show())
		to.arrived = append(to.arrived, p.data)
		to.next = min(to.next, w.now+w.random.Int64N(int64(time.Millisecond)))
	}
	w.way = left
}

// turn has the loop take a turn.
func (n *inhabitant) turn() {
	d := n.l.driver
	n.before = n.l.Snapshot()
	n.noteLeads()
	pkts := n.arrived
	n.arrived = nil
	d.turn(pkts, n.l.cfg.Clock.Read())
	n.lookAtLeads()
	n.fold()
	if d.msgs != nil {
		n.talk()
	}
	left := d.deadline().Sub(timed.Instant(n.show()))
	n.next = n.w.now + max(int64(left)+int64(left)/5000+1, 1000)
}

// lookAtLeads notes until when the node leads.
func (n *inhabitant) lookAtLeads() {
	n.leadUntil, n.global = 0, 0
	if s := n.l.driver.stack; s != nil {
		if until, leads := s.Election().Leading(); leads {
			n.leadUntil = until
		}
		if until, leads := s.Election().LeadingGlobally(); leads {
			n.global = until
		}
	}
}

// talk takes what is delivered and sends something, now and then.
func (n *inhabitant) talk() {
	_, _, _ = n.l.Deliveries().Borrow(100)
	if n.w.random.IntN(4) == 0 {
		n.before = n.l.Snapshot()
		_, _ = n.l.Sends().Send(n.w.t.Context(), sendqueue.Application, []byte("a word"), broadcast.Options{}, nil, true)
	}
}

// noteLeads counts the leads that time has ended. While a turn waits, that is not known: it may
// have the votes that renew one.
func (n *inhabitant) noteLeads() {
	if n.machine != nil && n.busy {
		return
	}
	now := timed.Instant(n.show())
	if n.leadUntil != 0 && now >= n.leadUntil {
		n.ended, n.leadUntil = n.ended+1, 0
	}
	if n.global != 0 && now >= n.global {
		n.endGlobal, n.global = n.endGlobal+1, 0
	}
}

func (w *world) String() string { return time.Duration(w.now).String() }
