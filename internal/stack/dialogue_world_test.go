package stack

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/leader/epoch"
	"github.com/failaware/failaware/timed"
)

// origin is the reading of all clocks at the beginning of a dialogue.
const origin = timed.Instant(time.Hour)

// dialogue is a group whose processes run as soon as they are due. All packets take the
// same time, and all clocks show the same, so that a person can follow what happens.
type dialogue struct {
	now       timed.Instant
	delay     time.Duration
	cfg       Config // of all nodes, without Self
	peers     timed.Set
	processes []*talker // in the order of their start
	disks     map[timed.NodeID]*epoch.State
	flight    []letter // in the order of arrival
	cut       map[[2]timed.NodeID]bool
	losses    []loss
	enc       wire.Encoder
	dec       wire.Decoder
	counter   uint64

	quiet bool // packets are not printed
	lines []line
}

// talker is a process of a node. boot counts the processes of the node.
type talker struct {
	id    timed.NodeID
	boot  int
	stack *Stack
	down  bool
}

// letter is a packet on its way.
type letter struct {
	arrival  timed.Instant
	from, to *talker
	bytes    []byte
}

// loss is a packet that is going to be lost: the next one between two nodes with a frame.
type loss struct {
	from, to timed.NodeID
	frame    wire.Frames
}

// line is something that happened: an event at a node, or a packet to some nodes.
type line struct {
	at   timed.Instant
	from string
	to   []string // of a packet
	text string
}

// bootOfStart returns the boot id of a node's process. [plain] makes it readable.
func bootOfStart(id timed.NodeID, start int) timed.BootID {
	return timed.BootID(start)<<32 | timed.BootID(id)
}

// nameOf returns the name of a node's process: 2 for the first one of node 2, then 2', 2”.
func nameOf(id timed.NodeID, start int) string {
	return fmt.Sprint(id) + strings.Repeat("'", start-1)
}

func (p *talker) name() string { return nameOf(p.id, p.boot) }

// startNode starts a process of a node.
func (d *dialogue) startNode(id timed.NodeID) *talker {
	p := &talker{id: id, boot: 1}
	for _, other := range d.processes {
		if other.id == id {
			p.boot = other.boot + 1
		}
	}
	cfg := d.cfg
	cfg.Self, cfg.Starts = timed.Incarnation{Node: id, Boot: bootOfStart(id, p.boot)}, uint64(p.boot)
	if cfg.Epochs != nil {
		cfg.Epochs = d.disks[id]
	}
	p.stack = New(cfg, d.peers.Without(id), d.now, 0)
	d.processes = append(d.processes, p)
	return p
}

// process returns the running process of a node that was started last, or nil.
func (d *dialogue) process(id timed.NodeID) *talker {
	for _, p := range slices.Backward(d.processes) {
		if p.id == id && !p.down {
			return p
		}
	}
	return nil
}

// step performs the next event, if it is not after the limit.
func (d *dialogue) step(limit timed.Instant) bool {
	next, due := timed.Never, (*talker)(nil)
	for _, p := range d.processes {
		if at := timed.Later(d.now, p.stack.Deadline()); !p.down && at < next {
			next, due = at, p
		}
	}
	if len(d.flight) > 0 && d.flight[0].arrival <= next {
		next, due = d.flight[0].arrival, nil
	}
	if next > limit {
		d.now = limit
		return false
	}
	d.now = next
	for _, p := range d.processes {
		if !p.down {
			p.stack.rests(d.now)
		}
	}
	if due != nil {
		d.perform(due, nil, due.stack.HandleTimeout(d.now, nil))
		return true
	}
	l := d.flight[0]
	d.flight = d.flight[1:]
	if l.to.down {
		return true
	}
	var packet wire.Packet
	if err := d.dec.Decode(l.bytes, &packet); err != nil {
		panic(err)
	}
	d.perform(l.to, l.from, l.to.stack.HandlePacket(d.now, d.now, &packet, nil))
	return true
}

// settled reports whether all running processes have one view, of all of them, that is up
// to date.
func (d *dialogue) settled() bool {
	var running timed.Set
	for _, p := range d.processes {
		if !p.down {
			running.Add(p.id)
		}
	}
	for _, p := range d.processes {
		if s := p.stack.Snapshot(d.now); !p.down && (s.View == nil || s.View.Set != running || s.ValidUntil <= d.now) {
			return false
		}
	}
	return true
}

// perform performs the effects of a turn, which the packet of another process began, or
// none.
func (d *dialogue) perform(p, by *talker, out []Effect) {
	for i := range out {
		switch e := &out[i]; e.Kind {
		case Send:
			d.send(p, d.addressee(e), e.Packet)
		case SendBack:
			d.send(p, by, e.Packet)
		case Notify:
			if text := eventText(e.Event); text != "" {
				d.print(p, text)
			}
		case Deliver:
			d.deliver(p, e.Broadcast)
		case Persist:
			d.disks[p.id] = e.Epoch
			d.print(p, "writes down: "+epochText(e.Epoch))
		}
	}
}

// addressee returns the process to which a packet goes: the one that the sender echoes,
// or else the first one of the node.
func (d *dialogue) addressee(e *Effect) *talker {
	var to *talker
	for _, p := range d.processes {
		if p.id == e.Peer && !p.down && (to == nil || p.stack.Self().Boot == e.Packet.Header.Echo.Boot) {
			to = p
		}
	}
	return to
}

// send sends a packet unless it is lost.
func (d *dialogue) send(from, to *talker, p *wire.Packet) {
	lost := to == nil || d.cut[[2]timed.NodeID{from.id, to.id}]
	if i := slices.IndexFunc(d.losses, func(l loss) bool {
		return l.from == from.id && l.to == p.Header.Destination && p.Has(l.frame)
	}); i >= 0 && !lost {
		lost, d.losses = true, slices.Delete(d.losses, i, i+1)
	}
	d.printPacket(from, to, p, lost)
	if lost {
		return
	}
	b, err := d.enc.Append(nil, p)
	if err != nil {
		panic(err)
	}
	d.counter++
	wire.FinishWhole(b, d.now, d.counter)
	d.flight = append(d.flight, letter{d.now.Add(d.delay), from, to, b})
	slices.SortStableFunc(d.flight, func(a, b letter) int { return cmp.Compare(a.arrival, b.arrival) })
}

// deliver prints the application's deliveries, and consumes them at once.
func (d *dialogue) deliver(p *talker, e *broadcast.Effect) {
	switch e.Kind {
	case broadcast.Deliver:
		bytes := 0
		for i := range e.Deliveries {
			m := &e.Deliveries[i]
			bytes += len(m.Payload)
			d.print(p, "delivers "+deliveryText(m))
		}
		p.stack.Consumed(d.now, bytes, len(e.Deliveries))
	case broadcast.Transition:
		d.print(p, plain(fmt.Sprintf("the view %v ends; %v go on to %v", e.View.ID, e.Along, e.Next.ID)))
	}
}

// print notes that something happened at a process.
func (d *dialogue) print(p *talker, text string) {
	d.lines = append(d.lines, line{at: d.now, from: p.name(), text: text})
}

// printPacket notes a packet unless it says nothing. Equal packets of a turn share a line.
func (d *dialogue) printPacket(from, to *talker, p *wire.Packet, lost bool) {
	text := packetText(p)
	if d.quiet || text == "" {
		return
	}
	if lost {
		text += " (lost)"
	}
	name := fmt.Sprint(p.Header.Destination)
	if to != nil {
		name = to.name()
	}
	for i := range d.lines {
		l := &d.lines[i]
		if l.at == d.now && l.from == from.name() && l.to != nil && l.text == text && !slices.Contains(l.to, name) {
			l.to = append(l.to, name)
			return
		}
	}
	d.lines = append(d.lines, line{d.now, from.name(), []string{name}, text})
}

// take returns the events since the last call.
func (d *dialogue) take() string {
	var b strings.Builder
	for _, l := range d.lines {
		who := l.from
		if l.to != nil {
			who += "->" + strings.Join(l.to, ",")
		}
		fmt.Fprintf(&b, "%8s  %-8s  %s\n", clockText(l.at), who, l.text)
	}
	d.lines = nil
	return b.String()
}
