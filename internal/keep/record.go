package keep

import (
	"bytes"
	"errors"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/replica"
)

// Kinds of records in a journal; each record begins with one.
const (
	recordApply    = iota + 1 // an operation, in the state that the records before led to
	recordPlace               // the name of that state
	recordReplaced            // a snapshot follows that does not continue that state; nothing without it
)

// errRecord rejects a record that this package has not written. The journal has checked
// that it is what was written.
var errRecord = errors.New("keep: a record of the journal is of another version of this program: a later one reads what an earlier one has written")

// appendApply appends the record of an operation.
func appendApply(b []byte, d *broadcast.Delivery) []byte {
	return replica.AppendDelivery(append(b, recordApply), d)
}

func parseApply(b []byte) (d broadcast.Delivery, err error) {
	d, err = replica.ParseDelivery(b[1:])
	d.Payload = bytes.Clone(d.Payload) // the application may keep it
	return d, err
}

// appendPlace appends the record of a place.
func appendPlace(b []byte, p *replica.Place) []byte {
	return replica.AppendPlace(append(b, recordPlace), p)
}
