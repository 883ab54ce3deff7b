package engine

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/internal/replica"
	"github.com/failaware/failaware/timed"
)

// Kinds of records in a journal; each record begins with one.
const (
	recordApply    = iota + 1 // an operation, in the state that the records before led to
	recordPlace               // the name of that state
	recordReplaced            // a snapshot follows that does not continue that state; nothing without it
)

// errRecord rejects a record that this package has not written. The journal has checked
// that it is what was written.
var errRecord = errors.New("replicate: a record of the journal is of another version")

// appendApply appends the record of an operation.
func appendApply(b []byte, d *broadcast.Delivery) []byte {
	u64 := binary.BigEndian.AppendUint64
	b = append(b, recordApply, byte(d.Sender), byte(d.Class), byte(d.Order), byte(d.Atomicity), 0)
	switch {
	case d.Flushed:
		b[len(b)-1] = 2
	case d.Transitional:
		b[len(b)-1] = 1
	}
	b = u64(u64(u64(b, uint64(d.Boot)), d.ID.Sequence), d.Position)
	b = u64(u64(b, uint64(d.Stamp)), uint64(d.Deviation))
	return append(b, d.Payload...)
}

// applyBytes is the size of the record of an operation without its payload.
const applyBytes = 6 + 5*8

func parseApply(b []byte) (d broadcast.Delivery, err error) {
	if len(b) < applyBytes {
		return d, errRecord
	}
	u64 := func(i int) uint64 { return binary.BigEndian.Uint64(b[6+8*i:]) }
	d = broadcast.Delivery{
		ID:           broadcast.ID{Sender: timed.NodeID(b[1]), Boot: timed.BootID(u64(0)), Class: broadcast.Class(b[2]), Sequence: u64(1)},
		Options:      broadcast.Options{Order: broadcast.Order(b[3]), Atomicity: broadcast.Atomicity(b[4])},
		Transitional: b[5] > 0, Flushed: b[5] == 2, Position: u64(2), Stamp: clocksync.Time(u64(3)), Deviation: time.Duration(u64(4)),
	}
	d.Payload = append([]byte(nil), b[applyBytes:]...) // the application may keep it
	return d, nil
}

// appendPlace appends the record of a place.
func appendPlace(b []byte, p *replica.Place) []byte {
	return replica.AppendPlace(append(b, recordPlace), p)
}
