package api

import (
	"time"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/clocksync"
)

// Operation is the way of an operation through a node, by the group's clock.
type Operation struct {
	ID        failaware.MessageID // of its message
	Submitted clocksync.Reading   // at its sender, before it waits for room
	Sent      failaware.GroupTime // the stamp of the message, wrong by at most Deviation
	Deviation time.Duration
	Ordered   clocksync.Reading // here: all earlier operations are applied, and it is the next
	Applied   clocksync.Reading // here
}

// StoreLog keeps what a store shows of its deliveries, for any number of clients: the latest
// messages, and operations if they are traced, as many as deliveries of a node. It is safe for
// concurrent use.
type StoreLog struct{ log *deliveryLog }

// NewStoreLog returns an empty log.
func NewStoreLog() *StoreLog { return &StoreLog{newDeliveryLog()} }

// AddMessage adds a message that was broadcast beside the operations. Its view is not known.
// It does not block.
func (o *StoreLog) AddMessage(m failaware.Delivery) {
	m.View = &failaware.View{}
	o.log.add([]failaware.Delivery{m}, false)
}

// Add adds an operation. It does not block.
func (o *StoreLog) Add(op Operation) {
	l := o.log
	l.mu.Lock()
	defer l.mu.Unlock()
	l.items = append(l.items, item{operation: &op})
	l.last++
	l.trim()
}

// wire fills in the wire form of an operation.
func (op *Operation) wire(w *Delivery) {
	w.Kind, w.Message, w.Sender, w.Boot = "operation", op.ID.String(), int(op.ID.Sender), bootText(op.ID.Boot)
	w.StampNS, w.DeviationNS = int64(op.Sent), known(op.Deviation, clocksync.UnknownBound)
	w.SubmittedNS, w.SubmittedDeviationNS = int64(op.Submitted.Time), known(op.Submitted.Deviation, clocksync.UnknownBound)
	w.OrderedNS, w.AppliedNS = int64(op.Ordered.Time), int64(op.Applied.Time)
	w.HereDeviationNS = known(max(op.Ordered.Deviation, op.Applied.Deviation), clocksync.UnknownBound)
}
