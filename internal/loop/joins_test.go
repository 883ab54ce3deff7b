package loop

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/claim"
	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/internal/peers"
	"github.com/failaware/failaware/internal/race"
	"github.com/failaware/failaware/internal/seal"
	"github.com/failaware/failaware/timed"
)

// joins is what a world has whose nodes know one other node each at the start, and find
// the others. They restart and move to other addresses, an operator replaces their keys,
// and somebody repeats their packets, from where they came and from elsewhere. In some worlds
// they choose their ids by themselves, out of few.
type joins struct {
	lists  map[timed.NodeID][]peers.Peer
	listed timed.Set // nodes that others have in their lists: these keep their addresses
	moves  uint16
	keyed  bool
	keys   []seal.Key // of the group, the newest last
	steps  map[timed.NodeID]int
	seen   []repeated // packets that somebody has recorded
	owed   map[pair]int
	claims bool
	ids    map[timed.NodeID]timed.NodeID // that machines have kept
	used   map[timed.NodeID]timed.Set    // ids that machines have found in use
}

// repeated is a packet that somebody may send again.
type repeated struct {
	data     []byte
	from, to netip.AddrPort
}

// pair is a node and an address from which packets came that no node has sent.
type pair struct {
	node timed.NodeID
	addr netip.AddrPort
}

// nowhere is an address at which there is no node.
var nowhere = netip.MustParseAddrPort("127.0.0.9:9")

// newJoins returns a world whose nodes know one another by a chain of lists only.
func newJoins(t testing.TB, seed uint64, count int) *world {
	w := emptyWorld(t, seed)
	j := &joins{lists: map[timed.NodeID][]peers.Peer{}, steps: map[timed.NodeID]int{}, owed: map[pair]int{}, keyed: w.random.IntN(3) > 0,
		claims: w.random.IntN(3) == 0, ids: map[timed.NodeID]timed.NodeID{}, used: map[timed.NodeID]timed.Set{}}
	w.joins = j
	j.keys = []seal.Key{w.newKey()}
	for id := range timed.NodeID(count) {
		id++
		n := &inhabitant{w: w, id: id, drift: w.random.Int64N(180_001) - 90_000}
		if id > 1 {
			known := 1 + timed.NodeID(w.random.IntN(int(id)-1))
			p := peers.Peer{ID: known, Addr: at7(known).String()}
			if j.claims || w.random.IntN(2) == 0 {
				p.ID = timed.NoNode // which it has to say
			}
			j.lists[id], j.listed = []peers.Peer{p}, j.listed.With(known)
		}
		w.start(n, at7(id))
	}
	return w
}

// newKey returns a key that the seed determines.
func (w *world) newKey() seal.Key {
	secret := make([]byte, 32)
	for i := range secret {
		secret[i] = byte(w.random.Uint32())
	}
	r, err := seal.Parse("failaware-key-1:" + base64.RawURLEncoding.EncodeToString(secret))
	require.NoError(w.t, err)
	return r.Keys()[0]
}

// start begins a process of a node at an address.
func (w *world) start(n *inhabitant, at netip.AddrPort) {
	n.take(w.joins.ringOf(w.t, n.id))
	n.next = w.now + w.random.Int64N(int64(10*time.Millisecond))
	id, claims := w.joins.idOf(w, n.id)
	n.l, _ = newLoop(func(cfg *Config) {
		n.fakeConn = cfg.Conn.(*fakeConn)
		n.local = at
		cfg.Stack.Self.Node, cfg.Stack.Broadcast, cfg.Ring, cfg.Claim = id, nil, n.ring, claims
		cfg.Conn, cfg.Sink, cfg.Random, cfg.Clock, cfg.Wall = n, n, w.random.Uint64, hwclock.Of(n.show), n.wall
		cfg.Peers = peers.NewResolver(peers.Options{Self: id, Changed: func() {}}, w.joins.lists[n.id])
	})
	w.nodes, w.at[at] = append(w.nodes, n), n
}

// mostChosen is the largest id that a node chooses. Of so few ids, some are chosen twice. With
// far fewer, parts of a network come about that know of each other only by nodes whose ids
// both have; they do not come together.
const mostChosen = timed.NodeID(30)

// idOf returns the id of a machine's next process: the one that it has kept, or one that it
// has not found in use.
func (j *joins) idOf(w *world, machine timed.NodeID) (timed.NodeID, *Claim) {
	if !j.claims {
		return machine, nil
	}
	if id := j.ids[machine]; id != timed.NoNode {
		return id, &Claim{Held: true}
	}
	used := j.used[machine]
	for id := mostChosen + 1; id != timed.NoNode; id++ { // up to the largest
		used.Add(id)
	}
	id := claim.Choose(used, w.random.Uint64())
	return id, &Claim{Keep: func() error { j.ids[machine] = id; return nil }, Kept: func() { w.ends["kept"]++ }}
}

// ended begins another process of a node whose process has ended by itself, because another
// node has its id.
func (j *joins) ended(n *inhabitant) {
	w, d := n.w, n.l.driver
	id := d.cfg.Self.Node
	if refused, ok := errors.AsType[*RefusedError](d.failure); ok {
		j.used[n.id] = j.used[n.id].Union(refused.Used).With(id)
		w.ends["refused"]++
	} else {
		_, duplicate := errors.AsType[*DuplicateIDError](d.failure)
		w.demand(duplicate && j.claims, "node %v ends: %v", n.id, d.failure)
		delete(j.ids, n.id)
		j.used[n.id] = j.used[n.id].With(id)
		w.ends["duplicates"]++
	}
	w.restart(n)
}

// take has the node use keys.
func (n *inhabitant) take(r *seal.Ring) {
	if n.ring = r; r != nil {
		n.own.opener = seal.NewOpener(r)
	}
}

// ringOf returns the keys of a node. In each step of the operator, every node gets the new
// key, seals with it, or gives the former one up.
func (j *joins) ringOf(t testing.TB, id timed.NodeID) *seal.Ring {
	if !j.keyed {
		return nil
	}
	turns, step := j.steps[id]/3, j.steps[id]%3
	keys := j.keys[turns : turns+1]
	switch step {
	case 1:
		keys = j.keys[turns : turns+2]
	case 2:
		keys = []seal.Key{j.keys[turns+1], j.keys[turns]}
	}
	r, err := seal.NewRing(keys...)
	require.NoError(t, err)
	return r
}

// rotate has the operator take the next step at a node, once all nodes have taken the last one.
func (w *world) rotate(n *inhabitant) {
	j := w.joins
	if !j.keyed {
		return
	}
	for _, m := range w.nodes {
		if j.steps[m.id] < j.steps[n.id] {
			return
		}
	}
	if j.steps[n.id]++; len(j.keys) < j.steps[n.id]/3+2 {
		j.keys = append(j.keys, w.newKey())
	}
	n.take(j.ringOf(w.t, n.id))
	n.l.do(func(d *driver) { d.takeRing(n.ring) })
	w.ends["keys"]++
}

// sends takes note of a packet, and reports whether there is a node where it goes.
func (j *joins) sends(n *inhabitant, b []byte, to netip.AddrPort) bool {
	w := n.w
	if p := (pair{n.id, to}); to.Addr() == nowhere.Addr() {
		j.owed[p] -= len(b)
		require.GreaterOrEqual(w.t, j.owed[p], 0, "%v: node %v sends more to an address than came from there", w, n.id)
		w.ends["to nowhere"]++
		return false
	}
	if w.random.IntN(20) == 0 {
		j.seen = append(j.seen, repeated{b, n.local, to})
		j.seen = j.seen[max(0, len(j.seen)-200):]
	}
	return w.at[to] != nil
}

// repeat sends a packet again that somebody has recorded, perhaps as if it came from elsewhere.
func (w *world) repeat() {
	j := w.joins
	if len(j.seen) == 0 {
		return
	}
	p := j.seen[w.random.IntN(len(j.seen))]
	to := w.at[p.to]
	if to == nil {
		return
	}
	if w.random.IntN(2) == 0 {
		p.from = netip.AddrPortFrom(nowhere.Addr(), 9+uint16(w.random.IntN(9)))
		j.owed[pair{to.id, p.from}] += len(p.data)
	}
	w.carry(p.data, p.from, p.to)
	w.ends["repeated"]++
}

// elsewhere returns an address that no node has had.
func (j *joins) elsewhere() netip.AddrPort {
	j.moves++
	return netip.AddrPortFrom(at7(0).Addr(), 8000+j.moves)
}

// move gives a node another address, as a network does behind its back.
func (w *world) move(n *inhabitant) {
	if w.joins.listed.Has(n.id) {
		return
	}
	delete(w.at, n.local)
	n.local = w.joins.elsewhere()
	w.at[n.local] = n
	w.ends["moved"]++
}

// restart ends a process and begins another one, which knows what the first one knew at its
// start.
func (w *world) restart(n *inhabitant) {
	w.nodes = slices.DeleteFunc(w.nodes, func(m *inhabitant) bool { return m == n })
	w.uses = slices.DeleteFunc(w.uses, func(u *use) bool { return u.of == n })
	delete(w.at, n.local)
	at := n.local
	if !w.joins.listed.Has(n.id) && w.random.IntN(2) == 0 {
		at = w.joins.elsewhere()
	}
	w.start(&inhabitant{w: w, id: n.id, drift: n.drift}, at)
	w.ends["restarted"]++
}

// strike does one of the things that only such a world has.
func (j *joins) strike(w *world) {
	n := w.nodes[w.random.IntN(len(w.nodes))]
	switch w.random.IntN(8) {
	case 0:
		w.move(n)
	case 1:
		w.restart(n)
	case 2, 3:
		w.rotate(n)
	default:
		w.repeat()
	}
}

// worldsOfJoiners plays worlds of nodes that find each other, and describes what has happened.
func worldsOfJoiners(t testing.TB) (behaviour string) {
	seen := map[string]int{}
	for seed := range uint64(24) {
		w := newJoins(t, seed+1, 3+int(seed%6))
		w.run(12*time.Second, true)
		clear(w.cut)
		w.still = true
		for end := w.now + int64(timeToMeet); !w.met(); w.run(time.Second/4, false) {
			require.Less(t, w.now, end, "seed %d: %v", seed+1, w.views())
		}
		w.run(time.Second, false)
		require.True(t, w.met(), "seed %d: %v", seed+1, w.views())
		behaviour += w.behaviour(fmt.Sprint("seed ", seed+1))
		for what, n := range w.ends {
			seen[what] += n
		}
	}
	for _, what := range []string{"keys", "repeated", "moved", "restarted", "to nowhere", "kept", "refused", "duplicates"} {
		require.NotZero(t, seen[what], what)
	}
	return behaviour
}

// timeToMeet is how long nodes take at most to find each other after everything is mended: the
// time between two greetings is never longer than the time before. Where two of them have one
// id, one must first choose another.
const timeToMeet = 15 * time.Second

// met reports whether all nodes are in one view, which is up to date.
func (w *world) met() bool {
	return !slices.ContainsFunc(w.nodes, func(n *inhabitant) bool {
		s := n.l.Snapshot()
		return !s.UpToDate(timed.Instant(n.show())) || s.View.Set.Len() < len(w.nodes)
	})
}

// views describes which nodes are in the view of each one.
func (w *world) views() (all []string) {
	for _, n := range w.nodes {
		in := "none"
		if s := n.l.Snapshot(); s.UpToDate(timed.Instant(n.show())) {
			in = s.View.Set.String()
		}
		all = append(all, fmt.Sprintf("node %v: %s", n.id, in))
	}
	return all
}

// movedApart has two nodes move while they are cut off from each other, and not from a third.
// They hear each other soon after the cut is mended.
func movedApart(t testing.TB) {
	w := newJoins(t, 1, 3)
	for seed := uint64(2); w.joins.listed != timed.SetOf(1) || w.joins.claims; seed++ {
		w = newJoins(t, seed, 3)
	}
	w.still = true
	w.run(2*time.Second, false)
	require.True(t, w.met(), "%v", w.views())
	w.cut[[2]timed.NodeID{2, 3}], w.cut[[2]timed.NodeID{3, 2}] = true, true
	w.run(time.Second, false)
	hear := func() bool {
		return w.nodes[1].l.Snapshot().Alive.Has(3) && w.nodes[2].l.Snapshot().Alive.Has(2)
	}
	require.False(t, hear())
	w.move(w.nodes[1])
	w.move(w.nodes[2])
	w.run(5*time.Second, false)
	clear(w.cut)
	w.run(5*time.Second, false)
	require.True(t, hear())
}

func TestNodesThatMoveApartFindEachOther(t *testing.T) { movedApart(t) }

func TestNodesFindEachOtherInAllWorlds(t *testing.T) {
	if race.Enabled {
		t.Skip("one goroutine: it is tested without the race detector")
	}
	checkBehaviour(t, "joiners.txt", worldsOfJoiners(t))
}
