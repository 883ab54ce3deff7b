package keep

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/broadcast"
)

// The record of an operation says all that the place of the state depends on.
func TestRecordsAreReadAsTheyWereWritten(t *testing.T) {
	for _, d := range []broadcast.Delivery{
		{ID: broadcast.ID{Sender: 1, Boot: 2, Class: broadcast.ClassOrdered, Sequence: 5}, Options: broadcast.Options{Order: broadcast.TotalOrder, Atomicity: broadcast.StrictAtomicity}, Position: 6, Stamp: 7, Deviation: 8, Payload: []byte("a")},
		{ID: broadcast.ID{Sender: 1, Boot: 2, Class: broadcast.ClassOrdered, Sequence: 5}, Options: broadcast.Options{Order: broadcast.TimedOrder}, Transitional: true, Position: 6, Payload: []byte("b")},
		{ID: broadcast.ID{Sender: 1, Boot: 2, Class: broadcast.ClassOrdered, Sequence: 5}, Options: broadcast.Options{Order: broadcast.TimedOrder}, Transitional: true, Flushed: true, Position: 6, Payload: []byte("c")},
	} {
		got, err := parseApply(appendApply(nil, &d))
		require.NoError(t, err)
		require.Equal(t, d, got)
	}
}
