package keep

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/journal"
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

// A record that a later version of the program has written is not read in part: the state
// before it is not taken for the whole one.
func TestRecordsOfALaterVersionAreRefused(t *testing.T) {
	op := broadcast.Delivery{ID: broadcast.ID{Sender: 1, Boot: 2, Sequence: 4}, Position: 9, Payload: []byte("four")}
	known := appendPlace(nil, place(1))
	for what, record := range map[string][]byte{
		"of no kind":           {},
		"of another kind":      {99},
		"a place with more":    append(known, 0),
		"a place with less":    known[:len(known)-1],
		"part of an operation": appendApply(nil, &op)[:5],
	} {
		d, _, k := three(t)
		var b journal.Batch
		b.Add(record)
		require.NoError(t, k.j.Append(&b))
		require.NoError(t, k.j.Close())
		j, err := journal.OpenOn(d, journal.Options{Segment: 1 << 12})
		require.NoError(t, err)
		app := &list{}
		_, _, err = Open(j, app, Options{})
		require.Error(t, err, what)
		require.Equal(t, "one two three", app.text(), what)
	}
}
