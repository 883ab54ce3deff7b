package replicate

import (
	"context"
	"time"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/replica"
)

// Message is a message that is not an operation, from [Replica.Broadcast].
type Message struct {
	// ID names the message. Its Sender has broadcast it.
	ID        failaware.MessageID
	Order     failaware.Order
	Atomicity failaware.Atomicity
	// Transitional says that the view ended before the message's atomicity was reached.
	Transitional bool
	// Payload is the payload as broadcast. It may be kept, and must not be changed.
	Payload []byte
	// Stamp is the group time of submission, wrong by at most Deviation, which is
	// [clocksync.UnknownBound] when the clock was not synchronized.
	Stamp     failaware.GroupTime
	Deviation time.Duration
}

func messageOf(d *broadcast.Delivery) Message {
	return Message{ID: d.ID, Order: d.Order, Atomicity: d.Atomicity, Transitional: d.Transitional, Payload: d.Payload,
		Stamp: d.Stamp, Deviation: d.Deviation}
}

// Broadcast broadcasts a message beside the operations, over the same node and in any
// order and atomicity. It changes no state, and needs none: every member of the view hands
// it to its [Config.OnMessage], at its place in the order, even while the member waits for
// the state of others. A payload may have one byte less than the broadcast's MaxPayload.
// The errors are those of [failaware.Node.Broadcast].
func (r *Replica) Broadcast(ctx context.Context, payload []byte, opts failaware.BroadcastOptions) (failaware.MessageID, error) {
	return r.node.Broadcast(ctx, beside(payload), opts)
}

// BroadcastAndWait is [Replica.Broadcast], and waits as [failaware.Node.BroadcastAndWait]
// does.
func (r *Replica) BroadcastAndWait(ctx context.Context, payload []byte, opts failaware.BroadcastOptions) (failaware.Outcome, error) {
	return r.node.BroadcastAndWait(ctx, beside(payload), opts)
}

func beside(payload []byte) []byte {
	return replica.AppendBeside(make([]byte, 0, len(payload)+1), payload)
}
