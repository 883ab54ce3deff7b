package sim

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// BroadcastHandlers are the callbacks of an application for the atomic broadcast.
// They are called in the order in which things happen, and before Handlers.View
// for the same view. Those that are nil are not called.
type BroadcastHandlers struct {
	// Delivered hands over a message of the view. If its sender is this
	// incarnation, it is the outcome of the broadcast. The payload is the
	// application's to keep.
	Delivered func(d broadcast.Delivery, view *membership.View)
	// Transition is called before the transitional deliveries in view: they come with
	// those that move along to next, and not with the others.
	Transition func(view, next *membership.View, along timed.Set)
	// Base is called before Entered, with how far the ordered messages of each node had
	// been ordered before, in the branches that meet in the view.
	Base func([]broadcast.Mark)
	// Entered is called before the first delivery in a view.
	Entered func(view *membership.View)
	// Remains hands over a message that an incarnation had acknowledged, and not delivered,
	// when it ended. It is called before Handlers.Restarted, or Handlers.Stop if the next
	// incarnation is held back.
	Remains func(d broadcast.Delivery, view *membership.View)
	// Elsewhere says that own messages of a class, from through to, were ordered
	// in another branch: their outcome is unknown.
	Elsewhere func(class broadcast.Class, from, to uint64)
}

// noteBroadcast queues the calls of handlers for an effect of a node's broadcast.
func (a *app) noteBroadcast(n *Node, e *broadcast.Effect) {
	c := *e
	c.Deliveries = slices.Clone(e.Deliveries)
	for i := range c.Deliveries {
		c.Deliveries[i].Payload = bytes.Clone(c.Deliveries[i].Payload)
	}
	a.calls = append(a.calls, call{n: n, life: n.lives, kind: callBroadcast, effect: &c})
}

func (h *BroadcastHandlers) invoke(e *broadcast.Effect) {
	switch e.Kind {
	case broadcast.Deliver:
		for i := range e.Deliveries {
			if h.Delivered != nil {
				h.Delivered(e.Deliveries[i], e.View)
			}
		}
	case broadcast.Remains:
		for i := range e.Deliveries {
			if h.Remains != nil {
				h.Remains(e.Deliveries[i], e.View)
			}
		}
	case broadcast.Transition:
		if h.Transition != nil {
			h.Transition(e.View, e.Next, e.Along)
		}
	case broadcast.Installed:
		if h.Base != nil {
			h.Base(e.Base)
		}
		if h.Entered != nil {
			h.Entered(e.View)
		}
	case broadcast.Elsewhere:
		if h.Elsewhere != nil {
			h.Elsewhere(e.Class, e.From, e.Through)
		}
	}
}

// KeepDeliveries says that the process keeps the results of deliveries over incarnations,
// so that no delivery of an earlier incarnation may come again.
func (n *Node) KeepDeliveries() { n.keeps = true }

// RecallOrdered says how far the ordered messages of each node are in the state that a
// process has from an earlier one: none of them may come again. App.Start must call it,
// because the incarnation must know it before it takes part in a view.
func (n *Node) RecallOrdered(marks []broadcast.Mark) {
	n.ordered = marks
	if n.proc.Stack != nil && !n.proc.Stack.RecallOrdered(marks) {
		panic(fmt.Sprintf("sim: RecallOrdered: node %d takes part in a view already", n.proc.ID))
	}
}

// Reach returns how far the node's broadcast is, with everything that it has acknowledged
// so far.
func (n *Node) Reach() (r broadcast.Reach) {
	if n.w.cast != nil && n.hasStack() {
		r = n.proc.Stack.BroadcastState().Reach()
	}
	return r
}

// errNoBroadcast is the answer in a world without a broadcast.
var errNoBroadcast = errors.New("sim: Node.Broadcast needs the option Broadcast")

// Broadcast hands a payload, which it copies, to the members of the node's view
// ([BroadcastHandlers.Delivered]), and returns the message's id. The errors are those
// of package broadcast, and [ErrNotRunning].
func (n *Node) Broadcast(payload []byte, opt broadcast.Options) (broadcast.ID, error) {
	w := n.w
	if w.cast == nil {
		return broadcast.ID{}, errNoBroadcast
	}
	if !n.proc.Up || n.proc.Upset || n.stalledUntil > w.now {
		return broadcast.ID{}, ErrNotRunning
	}
	id, err := w.broadcast(n, payload, opt)
	if err == nil {
		w.arm(n, 0)
	}
	return id, err
}
