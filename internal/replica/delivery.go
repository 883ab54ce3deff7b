package replica

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/timed"
)

// deliveryBytes is the size of an encoded delivery without its payload.
const deliveryBytes = 5 + 5*8

// AppendDelivery appends the encoding of an ordered delivery.
func AppendDelivery(b []byte, d *broadcast.Delivery) []byte {
	u64 := binary.BigEndian.AppendUint64
	b = append(b, byte(d.Sender), byte(d.Class), byte(d.Order), byte(d.Atomicity), 0)
	switch {
	case d.Flushed:
		b[len(b)-1] = 2
	case d.Transitional:
		b[len(b)-1] = 1
	}
	b = u64(u64(u64(b, uint64(d.Boot)), d.Sequence), d.Position)
	b = u64(u64(b, uint64(d.Stamp)), uint64(d.Deviation))
	return append(b, d.Payload...)
}

// ParseDelivery reads what AppendDelivery has appended. The payload is a part of b.
func ParseDelivery(b []byte) (d broadcast.Delivery, err error) {
	if len(b) < deliveryBytes {
		return d, errors.New("replica: not a delivery")
	}
	u64 := func(i int) uint64 { return binary.BigEndian.Uint64(b[5+8*i:]) }
	return broadcast.Delivery{
		ID:           broadcast.ID{Sender: timed.NodeID(b[0]), Boot: timed.BootID(u64(0)), Class: broadcast.Class(b[1]), Sequence: u64(1)},
		Options:      broadcast.Options{Order: broadcast.Order(b[2]), Atomicity: broadcast.Atomicity(b[3])},
		Transitional: b[4] > 0, Flushed: b[4] == 2, Position: u64(2), Stamp: clocksync.Time(u64(3)), Deviation: time.Duration(u64(4)),
		Payload: b[deliveryBytes:],
	}, nil
}
