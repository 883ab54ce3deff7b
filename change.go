package failaware

import (
	"fmt"

	"github.com/failaware/failaware/event"
	"github.com/failaware/failaware/internal/loop/deliveryqueue"
)

// Change is an item of the deliveries that is not a message: a [TransitionBegins], a
// [ViewChange], an [OutcomeLost] or a [NewIncarnation]. A type switch tells them apart.
type Change interface {
	// String says what happened, in plain English.
	String() string
	change()
}

// TransitionBegins says that messages up to the next [ViewChange] come with Along, the
// members that move together to the next view, and perhaps not with the other members of
// [Delivery.View]. They are marked Transitional.
type TransitionBegins struct {
	// Next is empty if the incarnation of this node ends, never nil.
	Next  *View
	Along Set
}

// ViewChange says that messages from now on are delivered in [Delivery.View].
type ViewChange struct {
	// Previous is the view that this node comes from; none at first.
	Previous ViewID
	// Along are the members that moved together with this node.
	Along Set
	// Merged are the branches of the group that meet in the view, each with its members.
	Merged []Branch
}

// OutcomeLost says that another branch of the group has ordered the own messages From
// through Through, which differ in the sequence only. This node cannot know which nodes
// delivered them, and does not send them again.
type OutcomeLost struct{ From, Through MessageID }

// NewIncarnation says that this node gave up its incarnation, and began the one of Boot
// ([event.Restarted]). The outcome of its earlier messages is not known, unless they were
// delivered before this item. The node is in no view until the next [ViewChange].
type NewIncarnation struct {
	Reason event.RestartReason
	Boot   BootID
}

func (TransitionBegins) change() {}
func (ViewChange) change()       {}
func (OutcomeLost) change()      {}
func (NewIncarnation) change()   {}

func (c TransitionBegins) String() string {
	return fmt.Sprintf("the view ends; next is view %v, together with %v", someView(c.Next).ID, c.Along)
}

func (c ViewChange) String() string {
	if c.Previous.None() {
		return "the first view begins"
	}
	return fmt.Sprintf("a view begins after %v, together with %v", c.Previous, c.Along)
}

func (c OutcomeLost) String() string {
	return fmt.Sprintf("another branch of the group ordered the messages %v through %v", c.From, c.Through)
}

func (c NewIncarnation) String() string {
	return fmt.Sprintf("new incarnation %v: %s", c.Boot, string(c.Reason))
}

// changeOf returns the change of an item of the queue that is not a message.
func changeOf(it *deliveryqueue.Item) Change {
	c := it.Change
	switch it.Kind {
	case deliveryqueue.Transition:
		return TransitionBegins{someView(c.Next), c.Along}
	case deliveryqueue.Installed:
		return ViewChange{c.Previous, c.Along, c.Merged}
	case deliveryqueue.Lost:
		from := it.Message.ID
		from.Sequence = c.From
		return OutcomeLost{from, it.Message.ID}
	}
	return NewIncarnation{restartReasons[c.Reason], it.Message.Boot}
}
