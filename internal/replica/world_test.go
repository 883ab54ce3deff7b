package replica

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// world is a group over a broadcast that never fails. Messages are delivered at once,
// in one order, to the members of the sender's view, unless a test delays them.
// Applications append the operations that they apply to a string.
type world struct {
	now     timed.Instant
	cfg     Config
	nodes   []*node
	views   uint64
	hold    func(from int, payload []byte) bool
	late    map[lane][]broadcast.Delivery // messages that a node will get by catchUp
	tardy   []lane                        // that are late in the next view
	named   map[Label]map[string]bool     // with Stored: states that had a name
	ops     map[rune]broadcast.Mark       // operations of one letter
	again   []string                      // with Stored: states with operations that could be ordered again
	lacks   []string                      // with Stored: states without an operation of one that they continue
	truth   truth
	sent    []func()            // deliveries of messages that were broadcast
	busy    bool                // effects are being performed, or messages delivered
	onName  func(*node)         // a state of a node has got a name, if not nil
	onEvent func(*node, *Event) // if not nil
	began   func(int) time.Time // when an incarnation of a node begins, if not nil
}

// lane is the way of messages of one class to a node. They keep their order.
type lane struct {
	to    int
	class broadcast.Class
}

type node struct {
	r         *Replica
	inc       timed.Incarnation
	view      *membership.View
	position  uint64
	sequence  uint64
	ordered   []broadcast.Mark
	app       string
	wrong     bool // its hashes are wrong
	refuses   bool
	events    []Event
	withdrawn bool
	gives     bool // an event has said that its state gives way to another
	chunks    int  // bytes sent
	lazy      bool
	asked     []Name // snapshots that a lazy application owes
	states    []string
	last      Effect // the last Apply, Skip or Barrier of its own message
	place     Place  // with Stored: of app
	named     bool
	moved     bool      // it has a flushed operation, so that its operations name it, and no position
	lasts     []Effect  // Lasts
	written   []written // with Stored: what the disk may have, if it lags
	sure      int       // how much of that it has at least
}

func incarnation(i int) timed.Incarnation {
	return timed.Incarnation{Node: timed.NodeID(i + 1), Boot: timed.BootID(1000*i + 7)}
}

func newWorld(n int, cfg Config) *world {
	w := &world{now: timed.Instant(time.Second), cfg: cfg, late: map[lane][]broadcast.Delivery{}, named: map[Label]map[string]bool{}, ops: map[rune]broadcast.Mark{},
		truth: truth{views: map[membership.ViewID][]placed{}, brought: map[membership.ViewID]string{}, mergers: map[string]*merger{}}}
	for i := range n {
		w.nodes = append(w.nodes, nil)
		w.restart(i, 0)
	}
	return w
}

// restart gives a node a new incarnation without a memory.
func (w *world) restart(i int, life timed.BootID) {
	w.miss(i)
	w.nodes[i] = w.node(i, life, Earlier{})
}

// renew gives a node a new incarnation, which has the state of the one before.
func (w *world) renew(i int, life timed.BootID) {
	n := w.nodes[i]
	w.catchUpAt(i) // it has acknowledged them
	w.perform(i, n.r.HandleEnd(w.now, nil))
	w.nodes[i] = w.node(i, life, n.r.Earlier())
	w.nodes[i].app, w.nodes[i].ordered = n.app, n.ordered
}

func (w *world) node(i int, life timed.BootID, has Earlier) *node {
	inc := incarnation(i)
	inc.Boot += life
	cfg := w.cfg
	cfg.Self = inc
	if w.began != nil {
		cfg.Began = w.began(i)
	}
	return &node{r: New(cfg, has), inc: inc}
}

// install moves nodes to a view, each from the view that it was in.
func (w *world) install(is ...int) *membership.View {
	w.catchAllUp()
	for _, l := range w.tardy {
		w.late[l] = nil
	}
	w.tardy = nil
	w.views++
	lead := w.nodes[is[0]].inc
	v := &membership.View{ID: membership.ViewID{Sequence: w.views, Leader: lead.Node, Boot: lead.Boot}}
	for _, i := range is {
		n := w.nodes[i]
		m := membership.Member{Incarnation: n.inc}
		if n.view != nil {
			m.Previous = n.view.ID
		}
		v.Members = append(v.Members, m)
		v.Set.Add(n.inc.Node)
	}
	// All are in the view before the first message in it.
	if q := w.cfg.Quorum; q != nil && q.IsQuorum(v.Set) {
		w.truth.quorate = v
	}
	outs := make([][]Effect, len(is))
	var base []broadcast.Mark
	for _, i := range is {
		for _, m := range w.nodes[i].ordered {
			base = broadcast.AddMark(base, m)
		}
	}
	for k, i := range is {
		n := w.nodes[i]
		w.bring(n, v.ID)
		n.view, n.position, n.ordered = v, 0, slices.Clone(base)
		outs[k] = n.r.HandleInstalled(w.now, v, base, nil)
	}
	w.inTurn(func() {
		for k, i := range is {
			w.perform(i, outs[k])
		}
	})
	return v
}

func (w *world) op(i int, text string) { w.opWith(i, text, marker) }

func (w *world) opWith(i int, text string, o broadcast.Options) {
	w.perform(i, []Effect{{Kind: Broadcast, Options: o, Payload: AppendOp(nil, []byte(text))}})
}

// perform performs the effects of a replica. Broadcasts are delivered after the calls.
func (w *world) perform(i int, out []Effect) {
	n := w.nodes[i]
	for p, err := range Each(out) {
		if err != nil {
			panic(err) // it is in memory
		}
		e := *p
		if (e.Kind == Apply || e.Kind == Skip || e.Kind == Barrier) && e.Delivery.Sender == n.inc.Node {
			n.last = e
		}
		switch e.Kind {
		case Apply:
			w.apply(n, &e)
		case Snapshot:
			n.asked = append(n.asked, e.Name)
			n.states = append(n.states, n.app)
			if !n.lazy {
				w.answer(i)
			}
		case Restore:
			w.replace(n, text(e.State))
			n.app, n.named = text(e.State), false
		case Locate:
			if n.named = e.Place != nil; n.named {
				n.place, n.moved = *e.Place, false
				w.name(n)
			}
		case Lasts:
			n.lasts = append(n.lasts, e)
			if e.Lasting {
				w.last(e.At)
			}
		case Merge:
			n.app, n.named = w.merge(n, e.Branches), false
		case Hash:
			sum := uint64(len(n.app))
			if n.wrong {
				sum++
			}
			w.perform(i, n.r.HandleHash(w.now, e.At, sum, nil))
		case Notify:
			n.events = append(n.events, *e.Event)
			if w.onEvent != nil {
				w.onEvent(n, e.Event)
			}
			n.gives = n.gives || e.Event.Kind == EventDiscarded
		case Withdraw:
			n.withdrawn = true
		}
	}
	w.inTurn(func() {
		for _, e := range out {
			if e.Kind == Broadcast {
				w.sent = append(w.sent, func() { w.deliver(i, e) })
			}
		}
	})
}

// apply applies an operation to a node's state.
func (w *world) apply(n *node, e *Effect) {
	n.app += string(e.Delivery.Payload)
	n.gives = false
	if e.Lasting {
		w.truth.lasting += string(e.Delivery.Payload)
	}
	n.place.Advance(&e.Delivery)
	n.moved = n.moved || e.Delivery.Flushed
	w.name(n)
}

// inTurn runs f, and then delivers what was broadcast, unless f is a part of that: the
// effects of one message are performed before the next is delivered.
func (w *world) inTurn(f func()) {
	outer := !w.busy
	w.busy = true
	f()
	if !outer {
		return
	}
	for len(w.sent) > 0 {
		next := w.sent[0]
		w.sent = w.sent[1:]
		next()
	}
	w.busy = false
}

// content returns a snapshot.
func (w *world) content(text string) *Content {
	cfg := w.cfg.WithDefaults()
	cfg.NewBytes = func() Bytes { return new(Memory) }
	c := cfg.NewContent()
	_, _ = c.Write([]byte(text)) // memory takes all
	return c
}

// text returns a snapshot.
func text(c *Content) string {
	b, err := io.ReadAll(c.Reader())
	if err != nil {
		panic(err) // it is in memory
	}
	return string(b)
}

// name notes the name of a node's state.
func (w *world) name(n *node) {
	if n.named && w.onName != nil {
		w.onName(n)
	}
	if l := n.place.Named().Label; n.named {
		if w.named[l] == nil {
			w.named[l] = map[string]bool{}
		}
		w.named[l][n.app] = true
		w.cover(n)
		w.contain(n)
		w.locate(n)
	}
}

// contain notes a state that lacks an operation of one that it says that it continues.
func (w *world) contain(n *node) {
	for _, a := range n.place.Line {
		for _, l := range []Label{a.Label, Name{a.Label, a.View, a.Reached}.label()} {
			for earlier := range w.named[l] {
				if lacking(earlier, n.app) != "" {
					w.lacks = append(w.lacks, fmt.Sprintf("%q continues %q", n.app, earlier))
				}
			}
		}
	}
}

// cover notes a state whose place does not say that all its operations are ordered.
func (w *world) cover(n *node) {
	for _, op := range n.app {
		m, ok := w.ops[op]
		if ok && !slices.ContainsFunc(n.place.Ordered, func(o broadcast.Mark) bool {
			return o.Node == m.Node && o.Boot == m.Boot && o.Sequence >= m.Sequence
		}) {
			w.again = append(w.again, n.app)
		}
	}
}

// answer gives a replica the snapshots that it asked for.
func (w *world) answer(i int) {
	n := w.nodes[i]
	for len(n.asked) > 0 {
		name, state := n.asked[0], w.content(n.states[0])
		n.asked, n.states = n.asked[1:], n.states[1:]
		err := error(nil)
		if n.refuses {
			err = errors.New("not now")
		}
		w.perform(i, n.r.HandleSnapshot(w.now, name, state, err, nil))
	}
}

func (w *world) deliver(i int, e Effect) {
	n := w.nodes[i]
	if e.Piece != nil {
		e.Payload, _ = e.Message() // it is in memory
	}
	switch kind(e.Payload[0]) {
	case kindChunk:
		n.chunks += len(e.Payload)
		fallthrough
	case kindSame, kindBlocks:
		if most := n.r.cfg.ChunkBytes + ChunkOverhead; len(e.Payload) > most {
			panic(fmt.Sprintf("a payload of %d bytes, and the broadcast takes %d", len(e.Payload), most))
		}
	}
	if w.hold != nil && w.hold(i, e.Payload) {
		return
	}
	n.sequence++
	d := broadcast.Delivery{ID: broadcast.ID{Sender: n.inc.Node, Boot: n.inc.Boot, Class: e.Options.Order.Class(), Sequence: n.sequence},
		Options: e.Options, Payload: e.Payload}
	op, one := letter(e.Payload)
	if one {
		w.ops[op] = markOf(&d)
	}
	v := n.view
	if d.Class == broadcast.ClassOrdered {
		position := n.position + 1
		for _, o := range w.nodes {
			if o.view == v {
				o.position = position
			}
		}
		d.Position = position
		if one {
			d.Transitional = w.left(v) > 0
			w.truth.views[v.ID] = append(w.truth.views[v.ID], placed{position, op, d.Atomicity == broadcast.StrictAtomicity && !d.Transitional})
		}
	}
	outs := make([][]Effect, len(w.nodes))
	for j, o := range w.nodes {
		if o.view != v {
			continue
		}
		l := lane{j, d.Class}
		if late, ok := w.late[l]; ok {
			w.late[l] = append(late, d)
			continue
		}
		outs[j] = w.hand(o, d)
	}
	for j := range outs {
		w.perform(j, outs[j])
	}
}

// hand delivers a message to a node.
func (w *world) hand(n *node, d broadcast.Delivery) []Effect {
	if d.Class == broadcast.ClassOrdered {
		n.ordered = broadcast.AddMark(n.ordered, markOf(&d))
	}
	return n.r.HandleDelivery(w.now, d, nil)
}

// hinder has the messages of a lane be late from now on.
func (w *world) hinder(l lane) {
	if _, ok := w.late[l]; !ok {
		w.late[l] = nil
	}
}

// catchUp delivers the messages of a class that a node has not got yet.
func (w *world) catchUp(l lane) {
	for len(w.late[l]) > 0 {
		d := w.late[l][0]
		w.late[l] = w.late[l][1:]
		w.perform(l.to, w.hand(w.nodes[l.to], d))
	}
	delete(w.late, l)
}

// catchAllUp delivers all messages: a view ends when its members have them.
func (w *world) catchAllUp() {
	for i := range w.nodes {
		w.catchUpAt(i)
	}
}

// catchUpAt delivers all messages that a node has not got yet.
func (w *world) catchUpAt(i int) {
	w.catchUp(lane{i, broadcast.ClassOrdered})
	w.catchUp(lane{i, broadcast.ClassUnordered})
}

// miss has a node never get what it has not got: its incarnation ends.
func (w *world) miss(i int) {
	delete(w.late, lane{i, broadcast.ClassOrdered})
	delete(w.late, lane{i, broadcast.ClassUnordered})
}

// behind reports whether a node has not got all that is ordered.
func (w *world) behind(i int) bool { return len(w.late[lane{i, broadcast.ClassOrdered}]) > 0 }

// left returns how many members of a view have left it. What it delivers then is transitional.
func (w *world) left(v *membership.View) int {
	n := len(v.Members)
	for _, o := range w.nodes {
		if o.view == v {
			n--
		}
	}
	return n
}

// run lets time pass, in milliseconds.
func (w *world) run(d time.Duration) {
	for end := w.now.Add(d); w.now < end; {
		next := end
		for i, n := range w.nodes {
			if n.r.Deadline() <= w.now {
				w.perform(i, n.r.HandleTimeout(w.now, nil))
			}
		}
		for _, n := range w.nodes {
			next = timed.Earlier(next, n.r.Deadline())
		}
		steps := max(1, (next.Sub(w.now)+time.Millisecond-1)/time.Millisecond)
		w.now = w.now.Add(steps * time.Millisecond)
	}
}

func (n *node) has(k EventKind) (Event, bool) {
	for _, e := range n.events {
		if e.Kind == k {
			return e, true
		}
	}
	return Event{}, false
}
