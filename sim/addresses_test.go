package sim

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/internal/admit"
	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/timed"
)

// movesAreFollowed has nodes move to other addresses while packets are sent on with
// wrong ones, again, and late. No packet counts twice, no address gets more than came from
// it before it shows that it receives, and the group is whole soon after every move.
func movesAreFollowed(seed uint64, opt Options) error {
	const each = 2 * time.Second
	opt.Calm, opt.Duration = true, time.Minute
	opt.Nodes = 3 + int(seed%3)
	w := newWorld(seed, opt.withDefaults())
	p := newAddresses(w)
	w.addresses = p
	for i := range 12 {
		if !w.runUntil(w.now + int64(each)) {
			return w.failed
		}
		for wait := 0; !w.isWhole(); wait++ { // a lost packet can cost freshness for a moment
			if wait == 100 {
				return fmt.Errorf("seed %d: the group is not whole after %d moves", seed, i)
			}
			if !w.runUntil(w.now + int64(10*time.Millisecond)) {
				return w.failed
			}
		}
		if i%3 == 2 {
			p.comeHome(w.nodes[0]) // two that list nobody would need a third to introduce them
			continue
		}
		p.move(w.nodes[w.apps.Below(int64(len(w.nodes)))])
	}
	if p.attacks < 100 || p.challenged < 10 {
		return fmt.Errorf("seed %d: %d attacks and %d challenges are too few", seed, p.attacks, p.challenged)
	}
	return nil
}

// isWhole reports whether all nodes are in one view, which is up to date.
func (w *World) isWhole() bool {
	for _, n := range w.nodes {
		if s := n.proc.Stack.Membership(); !s.UpToDate(n.tick(w.now)) || s.View().Set != w.all() {
			return false
		}
	}
	return true
}

func TestMovesAreFollowed(t *testing.T) {
	for seed := uint64(1); seed <= scenarioSeeds; seed++ {
		require.NoError(t, movesAreFollowed(seed, Options{}))
	}
}

// addresses is the network of a world in which addresses matter. As in the loop of a node,
// package admit decides which packets count and where packets go; it starts with the first
// address of every node. Nodes move to other addresses, and an attacker on the path forwards
// packets with other source addresses, repeatedly, and late.
type addresses struct {
	w          *World
	home       []int32       // the address of each process
	at         map[int32]int // the process at an address
	moved      int32         // how often nodes have moved
	admissions []admission   // of each process

	came, went map[flow]int // bytes from and to addresses without a node
	seen       map[packetName]bool
	attacks    int
	challenged int
}

// admission has the admit state of a process.
type admission struct {
	boot    timed.BootID // of its incarnation
	windows *admit.Windows
	book    admit.Book[int32]
	ways    [timed.MaxNodes + 1]admit.Way[int32]
	origin  int32 // source address of the packet being handled
	strange bool  // the next incarnation knows no address
}

// flow names the packets between a process and an address.
type flow struct {
	process int
	addr    int32
}

// packetName names a packet at its receiver.
type packetName struct {
	to, from timed.Incarnation
	counter  uint64
}

const (
	firstVictim = 1001 // addresses without a node
	victims     = 3
	firstMoved  = 2001
)

func newAddresses(w *World) *addresses {
	p := &addresses{w: w, at: map[int32]int{}, came: map[flow]int{}, went: map[flow]int{}, seen: map[packetName]bool{}}
	for i := range w.nodes {
		p.home = append(p.home, configured(i))
		p.at[configured(i)] = i
		p.admissions = append(p.admissions, admission{})
	}
	return p
}

// configured returns the configured address of a process.
func configured(index int) int32 { return int32(index + 1) }

// admission returns the admit state of the present incarnation of a process.
func (p *addresses) admission(n *Node) *admission {
	d := &p.admissions[n.proc.Index]
	if d.boot != n.proc.Boot {
		strange := d.strange
		*d = admission{boot: n.proc.Boot, windows: new(admit.Windows)}
		if strange {
			return d
		}
		for i := range p.w.nodes {
			d.ways[i+1] = admit.Way[int32]{Listed: configured(i), Addr: configured(i), Proved: true}
		}
	}
	return d
}

// move moves a process to a new address. The old one stays without a node.
func (p *addresses) move(n *Node) {
	delete(p.at, p.home[n.proc.Index])
	p.moved++
	p.home[n.proc.Index] = firstMoved + p.moved
	p.at[p.home[n.proc.Index]] = n.proc.Index
}

// comeHome has a process end, and another one with its id begin at the configured address. It
// knows no address of others: they must try that one again, however the process before moved.
func (p *addresses) comeHome(n *Node) {
	i := n.proc.Index
	delete(p.at, p.home[i])
	p.home[i] = configured(i)
	p.at[p.home[i]] = i
	p.admissions[i].strange = true
	p.w.crashFor(n, 2*p.w.opt.Timing.Expires)
}

// send sends the packet of an effect to the address of its destination.
func (p *addresses) send(n *Node, e *stack.Effect, slot int32) {
	d := p.admission(n)
	if e.Kind == stack.SendBack {
		p.write(n, slot, d.origin, d.ways[e.Peer].Trusts(d.origin) || d.book.Proved(e.Peer, d.origin), false)
		return
	}
	now := p.w.slots[slot].packet.Header.Stamp
	w := &d.ways[e.Peer]
	if a, ok := w.Also(now, n.proc.Stack.Datagram().Alive(now).Has(e.Peer)); ok {
		p.write(n, p.w.copy(slot), a.Addr, a.Proved, true)
	}
	p.write(n, slot, w.Addr, w.Proved || w.Addr == 0, true)
}

// write sends a packet to an address. An address that has not proved to receive gets no
// more bytes than came from it and, if bare is set, only the head of the packet.
func (p *addresses) write(n *Node, slot, to int32, proved, bare bool) {
	w, f := p.w, p.w.slots[slot]
	if !proved {
		h := &f.packet.Header
		if bare {
			f.packet.Frames = 0
		}
		h.Stamp -= 1 + timed.Instant(w.net.Below(1<<16))
		b := &p.admission(n).book
		if !b.Spend(h.Destination, to, w.size(&f.packet)) {
			w.drop(slot)
			return
		}
		b.NoteChallenge(h.Destination, to, h.Stamp)
		p.challenged++
	}
	if to >= firstVictim && to < firstVictim+victims {
		at := flow{n.proc.Index, to}
		if p.went[at] += w.size(&f.packet); p.went[at] > p.came[at] {
			w.check.Fail("reflection", &n.proc, "address %d got %d bytes, and %d came from there", to, p.went[at], p.came[at])
		}
	}
	index, there := p.at[to]
	if !there {
		w.drop(slot)
		return
	}
	f.source = p.home[n.proc.Index]
	p.attack(n, slot, index)
	w.carry(n, slot, index)
}

// attack sometimes forwards a packet with another source address: in its place or beside
// it, at once or later, once or several times.
func (p *addresses) attack(n *Node, slot int32, to int) {
	w, f := p.w, p.w.slots[slot]
	switch {
	case w.net.Chance(0.01):
		f.source = p.elsewhere(n)
		p.attacks++
	case w.net.Chance(0.02):
		for range 1 + w.net.Below(3) {
			again := w.copy(slot)
			w.slots[again].source = p.elsewhere(n)
			w.schedule(w.now+w.net.Below(int64(w.opt.Timing.OneWayTimeout)), eventDeliver, to, again)
			p.attacks++
		}
	case w.net.Chance(0.01):
		again := w.copy(slot)
		w.slots[again].source = p.elsewhere(n)
		w.schedule(w.now+w.net.Below(int64(w.opt.Timing.Expires)*50), eventDeliver, to, again)
		p.attacks++
	}
}

// elsewhere draws an address that is not the node's own.
func (p *addresses) elsewhere(n *Node) int32 {
	if i := int(p.w.net.Below(int64(len(p.w.nodes)))); p.w.net.Chance(0.2) && i != n.proc.Index {
		return p.home[i]
	}
	return firstVictim + int32(p.w.net.Below(victims))
}

// admits reports whether a packet that has arrived at a process counts.
func (p *addresses) admits(n *Node, f *flight) bool {
	d, h := p.admission(n), &f.packet.Header
	if f.source >= firstVictim && f.source < firstVictim+victims {
		p.came[flow{n.proc.Index, f.source}] += p.w.size(&f.packet)
	}
	from := timed.Incarnation{Node: h.Source, Boot: h.Boot}
	if !d.windows.Take(from, h.Counter, n.proc.Stack.Datagram().Boot(h.Source)) {
		return false
	}
	name := packetName{timed.Incarnation{Node: n.proc.ID, Boot: n.proc.Boot}, from, h.Counter}
	if p.seen[name] {
		p.w.check.Fail("replay", &n.proc, "packet %d of %v counts twice", h.Counter, from)
	}
	p.seen[name] = true
	d.origin = f.source
	return true
}

// follow updates the address of a packet's sender by the verdict on the packet, which was
// handled last.
func (p *addresses) follow(n *Node, now timed.Instant, f *flight) {
	d, h := p.admission(n), &f.packet.Header
	w := &d.ways[h.Source]
	proved := w.Trusts(f.source)
	if !proved {
		a := admit.Arrival[int32]{From: h.Source, Addr: f.source, Bytes: p.w.size(&f.packet)}
		if h.Echo.Boot == n.proc.Boot {
			a.Sent, a.Latest = h.Echo.Sent, h.Echo.Latest
		}
		proved = d.book.Note(now, &a)
	}
	patience := 2 * p.w.opt.Timing.Expires
	switch kind, _ := n.proc.Stack.LastPacket(); kind {
	case datagram.Delivered, datagram.Accepted:
		w.Follow(now, h.Boot, h.Stamp, f.source, proved, patience)
	case datagram.Challenged:
		w.Meet(now, h.Boot, f.source, proved, patience)
	}
}
