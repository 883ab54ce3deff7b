package replica

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/failaware/failaware/membership"
)

// truth is what a world knows of the operations of one letter, by which the states of its
// nodes are judged. No two operations of a history have the same letter.
type truth struct {
	views   map[membership.ViewID][]placed // operations that all members delivered
	flushed string                         // operations that one member delivered at a place of its own
	brought map[membership.ViewID]string   // without a Quorum: operations that members took along to a view
	quorate *membership.View               // with one: the latest view that has one
	lasting string                         // operations that were said to last
	mergers map[string]*merger             // by the state that they made
	wrong   []string
}

// merger is what states were merged, and in which views.
type merger struct {
	states []string
	views  map[membership.ViewID]bool
}

// placed is an operation at its position in a view.
type placed struct {
	position uint64
	op       rune
	strict   bool // and regular: it may be said to last
}

// letter returns the operation of a payload, if it is one of one letter.
func letter(payload []byte) (op rune, ok bool) {
	op, n := utf8.DecodeRune(payload[1:])
	return op, kind(payload[0]) == kindOp && n == len(payload)-1
}

// bring notes what a node takes along to a view: its state, and what it applies to that, or
// to the initial one, when it leaves a view that has not settled.
func (w *world) bring(n *node, to membership.ViewID) {
	if w.cfg.Quorum != nil {
		return // a state may give way to that of a quorum
	}
	has := n.app
	for _, b := range n.r.queue {
		if n.r.standing == Pending {
			break // the state that the queue continues may be lost
		}
		for e, err := range (&Replay{from: b}).Effects() {
			if err != nil {
				panic(err) // it is in memory
			}
			has += string(e.Delivery.Payload)
		}
	}
	w.truth.brought[to] += has
}

// lost returns operations that the state of a node must have, because it is that of the view:
// those that members have brought along, and in the latest view those that last.
func (w *world) lost(n *node) string {
	switch {
	case n.view == nil || !n.r.Current(), w.cfg.Epoch > 0: // changes has a judge of its own
		return ""
	case n.view == w.truth.quorate:
		return lacking(w.truth.lasting, n.app)
	}
	return lacking(w.truth.brought[n.view.ID], n.app)
}

// last notes what is said to last: all that is strict through a position.
func (w *world) last(at Point) {
	for _, o := range w.truth.views[at.View] {
		if o.strict && o.position <= at.Position {
			w.truth.lasting += string(o.op)
		}
	}
}

// lacking returns the operations of a state that another one lacks.
func lacking(state, other string) string {
	return strings.Map(func(op rune) rune {
		if strings.ContainsRune("(|)", op) || strings.ContainsRune(other, op) {
			return -1
		}
		return op
	}, state)
}

// locate judges the place of a node's state: of the operations of its view, the state has
// those through its position.
func (w *world) locate(n *node) {
	if n.moved {
		return
	}
	for _, o := range w.truth.views[n.place.View] {
		if has := strings.ContainsRune(n.app, o.op); has != (o.position <= n.place.Position) {
			w.truth.wrong = append(w.truth.wrong, fmt.Sprintf("node %d: %q is located at %d of view %v, where %c has position %d",
				n.inc.Node, n.app, n.place.Position, n.place.View, o.op, o.position))
		}
	}
}

// merge judges the branches that a node merges, and returns the state that it makes. A branch
// that another continues gives way to it. That can be seen if it has nothing that was flushed,
// because then its operations and mergers say which state it is.
func (w *world) merge(n *node, branches []Branch) string {
	var states []string
	for _, b := range branches {
		states = append(states, text(b.State))
	}
	for i, less := range states {
		if less == "" || strings.ContainsAny(less, w.truth.flushed) || w.ambiguous(less) {
			continue
		}
		for j, more := range states {
			if j != i && w.continues(more, less) {
				w.truth.wrong = append(w.truth.wrong, fmt.Sprintf("%q is merged with %q, which continues it", less, more))
			}
		}
	}
	made := "(" + strings.Join(states, "|") + "|)"
	if w.truth.mergers[made] == nil {
		w.truth.mergers[made] = &merger{states, map[membership.ViewID]bool{}}
	}
	w.truth.mergers[made].views[n.view.ID] = true
	return made
}

// ambiguous reports whether a state may be one of several, of which none continues another:
// equal states were merged in several views.
func (w *world) ambiguous(state string) bool {
	for made, m := range w.truth.mergers {
		if len(m.views) > 1 && strings.Contains(state, made) {
			return true
		}
	}
	return false
}

// continues reports whether a state continues another one, perhaps over mergers.
func (w *world) continues(more, less string) bool {
	if strings.HasPrefix(more, less) {
		return true
	}
	for made, m := range w.truth.mergers {
		if strings.HasPrefix(more, made) && slices.ContainsFunc(m.states, func(s string) bool { return w.continues(s, less) }) {
			return true
		}
	}
	return false
}

// replace judges a state that takes the place of that of a node: with a Quorum, an event has
// said so if it lacks something.
func (w *world) replace(n *node, by string) {
	if gone := lacking(n.app, by); w.cfg.Quorum != nil && gone != "" && !n.gives {
		w.truth.wrong = append(w.truth.wrong, fmt.Sprintf("node %d: %q gives way to %q without a word", n.inc.Node, n.app, by))
	}
}

// read reads the state of a node, if it says that all of it lasts. Whoever reads it may rely
// on that. A view that a member has left is not up to date, and readers see that.
func (w *world) read(i int) (has string) {
	n := w.nodes[i]
	if n.view == nil || w.left(n.view) > 0 {
		return ""
	}
	if x := n.r.Extent(); x.View == n.view.ID && x.Sure > x.Last {
		has = w.rely(n)
	}
	return has
}

// bar does the same behind a barrier of the node, if that is said to last.
func (w *world) bar(i int) (has string) {
	n := w.nodes[i]
	if n.view == nil || w.left(n.view) > 0 || !n.r.Accepting() {
		return ""
	}
	n.last = Effect{}
	w.perform(i, []Effect{{Kind: Broadcast, Options: strict, Payload: AppendBarrier(nil)}})
	if n.last.Kind == Barrier && n.last.Lasting {
		has = w.rely(n)
	}
	return has
}

// rely notes that all of the state of a node is said to last.
func (w *world) rely(n *node) string {
	w.truth.lasting += lacking(n.app, w.truth.lasting)
	return n.app
}
