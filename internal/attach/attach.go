// Package attach gives packages of this module access to a node beyond its public
// API. Package failaware sets its variables.
package attach

import (
	"context"

	"github.com/hashicorp/go-hclog"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/loop/deliveryqueue"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/timed"
)

// Deliveries are all deliveries of a node. Their holder is the one consumer until it
// calls Release.
type Deliveries struct {
	*deliveryqueue.Queue
	// Send is Broadcast of the node, in the lane of the replicated state: however much
	// others send, it has its part of the room.
	Send func(ctx context.Context, payload []byte, opt broadcast.Options) error
	// Submit is Broadcast of the node. queued is called with the id of the message before it
	// can be delivered; it must not block.
	Submit func(ctx context.Context, payload []byte, opt broadcast.Options, noWait bool, queued func(broadcast.ID)) (broadcast.ID, error)
	// RecallOrdered says which ordered messages are in a state that the consumer has from an
	// earlier process, before it calls Keep: none of them may come again. The error is that
	// of a node that has stopped.
	RecallOrdered func(marks []broadcast.Mark) error
	// Reach says how far the broadcast is: at least as far as the node has told others. ok
	// is false if that is just changing. It takes no lock.
	Reach func() (r broadcast.Reach, ok bool)
	// Views returns the largest sequence of views that the state directory knew when the
	// node started; 0 without one.
	Views func() uint64
	// Guard has the node ask before it replaces the quorum system of an epoch by another one,
	// and again until the change is complete. Without a guard, a system that orders messages is
	// not replaced.
	Guard func(func(ctx context.Context, epoch uint64, next quorum.System) error)
	// Wake must be called when the queue says that the loop should hear at once of
	// returned items.
	Wake func()
	// Log writes a message to the log of the node, and does not wait for it.
	Log func(level hclog.Level, text string, args ...any)
}

// FormerViews returns what Views will say when a node starts with a state directory. The error
// is the one with which that node would not start.
var FormerViews func(dir string, id timed.NodeID) (uint64, error)

// StateFile returns the name of the file in a state directory that keeps them.
var StateFile func(dir string, id timed.NodeID) string

// TakeDeliveries takes the deliveries of a node, which is a *failaware.Node. A
// consumer of the public API releases them between two calls; package replicate
// would miss the items that another consumer then takes. The error is
// failaware.ErrBroadcastOff, ErrSendOnly or ErrConsumer.
var TakeDeliveries func(node any) (Deliveries, error)
