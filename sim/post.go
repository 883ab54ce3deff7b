package sim

import (
	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/internal/admit"
	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/timed"
)

// post is the network of a world in which addresses matter. Every process decides by
// package admit which packets count, and where packets go, as the loop of a node does. It
// is configured with the first address of every node. Nodes move to other addresses, and
// somebody on the path sends packets on with other source addresses, again, and late.
type post struct {
	w     *World
	home  []int32       // the address of each process
	at    map[int32]int // the process at an address
	moved int32         // how often nodes have moved
	desks []desk        // of each process

	came, went map[letter]int // bytes from and to addresses at which nobody is
	seen       map[packetName]bool
	attacks    int
	challenged int
}

// desk is what a process decides by.
type desk struct {
	boot    timed.BootID // of the incarnation that it belongs to
	windows *admit.Windows
	book    admit.Book[int32]
	ways    [timed.MaxNodes + 1]admit.Way[int32]
	origin  int32 // where the packet that is being handled came from
}

// letter is a process and an address that it writes to.
type letter struct {
	process int
	addr    int32
}

// packetName names a packet at its receiver.
type packetName struct {
	to, from timed.Incarnation
	counter  uint64
}

const (
	firstVictim = 1001 // addresses at which nobody is
	victims     = 3
	firstMoved  = 2001
)

func newPost(w *World) *post {
	p := &post{w: w, at: map[int32]int{}, came: map[letter]int{}, went: map[letter]int{}, seen: map[packetName]bool{}}
	for i := range w.nodes {
		p.home = append(p.home, configured(i))
		p.at[configured(i)] = i
		p.desks = append(p.desks, desk{})
	}
	return p
}

// configured returns the address with which the others are configured for a process.
func configured(index int) int32 { return int32(index + 1) }

// desk returns what the present incarnation of a process decides by.
func (p *post) desk(n *Node) *desk {
	d := &p.desks[n.proc.Index]
	if d.boot != n.proc.Boot {
		*d = desk{boot: n.proc.Boot, windows: new(admit.Windows)}
		for i := range p.w.nodes {
			d.ways[i+1] = admit.Way[int32]{Listed: configured(i), Addr: configured(i), Proved: true}
		}
	}
	return d
}

// move gives a process another address. Nobody is at the old one from then on.
func (p *post) move(n *Node) {
	delete(p.at, p.home[n.proc.Index])
	p.moved++
	p.home[n.proc.Index] = firstMoved + p.moved
	p.at[p.home[n.proc.Index]] = n.proc.Index
}

// send sends the packet of an effect where its destination is to be found.
func (p *post) send(n *Node, e *stack.Effect, slot int32) {
	d := p.desk(n)
	if e.Kind == stack.SendBack {
		p.write(n, slot, d.origin, d.ways[e.Peer].Trusts(d.origin) || d.book.Proved(e.Peer, d.origin), false)
		return
	}
	now := p.w.slots[slot].packet.Header.Stamp
	w := &d.ways[e.Peer]
	if a, ok := w.Also(now, n.proc.Stack.Datagram().Alive(now).Has(e.Peer)); ok {
		p.write(n, p.w.copy(slot), a.Addr, a.Proved, true)
	}
	p.write(n, slot, w.Addr, w.Proved, true)
}

// write sends a packet to an address. One that has not shown that it receives gets only
// the head of the packet, if bare is set, and no more bytes than came from it.
func (p *post) write(n *Node, slot, to int32, proved, bare bool) {
	w, f := p.w, p.w.slots[slot]
	if !proved {
		h := &f.packet.Header
		if bare {
			f.packet.Frames = 0
		}
		h.Stamp -= 1 + timed.Instant(w.net.Below(1<<16))
		b := &p.desk(n).book
		if !b.Spend(h.Destination, to, w.size(&f.packet)) {
			w.drop(slot)
			return
		}
		b.NoteChallenge(h.Destination, to, h.Stamp)
		p.challenged++
	}
	if to >= firstVictim && to < firstVictim+victims {
		at := letter{n.proc.Index, to}
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

// attack has somebody on the path send a packet on with another source address: in its
// place or beside it, at once or later, once or several times.
func (p *post) attack(n *Node, slot int32, to int) {
	w, f := p.w, p.w.slots[slot]
	switch {
	case w.net.Chance(0.01):
		f.source = p.elsewhere(n)
		p.attacks++
	case w.net.Chance(0.02):
		for range 1 + w.net.Below(3) {
			again := w.copy(slot)
			w.slots[again].source = p.elsewhere(n)
			w.schedule(w.now+w.net.Below(int64(w.opt.Timing.OneWayTimeout)), deliver, to, again)
			p.attacks++
		}
	case w.net.Chance(0.01):
		again := w.copy(slot)
		w.slots[again].source = p.elsewhere(n)
		w.schedule(w.now+w.net.Below(int64(w.opt.Timing.Expires)*50), deliver, to, again)
		p.attacks++
	}
}

// elsewhere returns an address that is not a node's own.
func (p *post) elsewhere(n *Node) int32 {
	if i := int(p.w.net.Below(int64(len(p.w.nodes)))); p.w.net.Chance(0.2) && i != n.proc.Index {
		return p.home[i]
	}
	return firstVictim + int32(p.w.net.Below(victims))
}

// admits reports whether a packet counts that has arrived at a process.
func (p *post) admits(n *Node, f *flight) bool {
	d, h := p.desk(n), &f.packet.Header
	if f.source >= firstVictim && f.source < firstVictim+victims {
		p.came[letter{n.proc.Index, f.source}] += p.w.size(&f.packet)
	}
	from := timed.Incarnation{Node: h.Source, Boot: h.Boot}
	if !d.windows.Take(from, h.Counter) {
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

// follow takes the verdict on the packet that was handled last.
func (p *post) follow(n *Node, now timed.Instant, f *flight) {
	d, h := p.desk(n), &f.packet.Header
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
