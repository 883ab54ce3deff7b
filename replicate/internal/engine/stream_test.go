package engine

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/attach"
	"github.com/failaware/failaware/internal/leftover"
	"github.com/failaware/failaware/internal/loop/deliveryqueue"
	"github.com/failaware/failaware/internal/replica"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// passesAllOn has the broadcast deliver a message of which every field says something. The
// engine gets all of it, and keeps the payload when its memory is used again.
func passesAllOn(t testing.TB) {
	q := deliveryqueue.New(1<<20, false)
	e, err := New(replica.Config{Self: timed.Incarnation{Node: 1, Boot: 2}}, nil, &words{}, nil, nil, nil)
	require.NoError(t, err)
	s := NewStream(nil, attach.Deliveries{Queue: q, Wake: func() {}})
	s.Follow(e)
	var d broadcast.Delivery
	leftover.Fill(&d, "home") // where the broadcast has the payload
	want := d
	want.Payload = bytes.Clone(d.Payload)
	it := q.Stage()
	it.Kind, it.Message = deliveryqueue.Message, d
	it = q.Stage()
	it.Kind, it.View, it.Change = deliveryqueue.Installed, &membership.View{}, &deliveryqueue.Change{Base: []broadcast.Mark{{Node: 3}}}
	q.Commit()
	next, err := s.Next(t.Context())
	require.NoError(t, err)
	clear(d.Payload)
	require.Empty(t, leftover.Differ(&want, &next.Delivery, "home"))
	next, ok := s.More()
	require.True(t, ok, "it is at hand")
	require.Len(t, next.Base, 1)
	_, ok = s.More()
	require.False(t, ok)
}

func TestTheEngineGetsAllOfADelivery(t *testing.T) { passesAllOn(t) }

// endsWhole has an incarnation end of which the broadcast has acknowledged more than it has
// delivered. The application gets all of that, and then the outcomes of the others are not known.
func endsWhole(t testing.TB) {
	q := deliveryqueue.New(1<<20, false)
	e, err := New(replica.Config{Self: timed.Incarnation{Node: 1, Boot: 2}}, nil, &words{}, nil, nil, nil)
	require.NoError(t, err)
	s := NewStream(nil, attach.Deliveries{Queue: q, Wake: func() {}})
	s.Follow(e)
	it := q.Stage()
	it.Kind, it.Message = deliveryqueue.Message, broadcast.Delivery{ID: messageID(1)}
	it = q.Stage()
	it.Kind, it.Message.Boot = deliveryqueue.NewIncarnation, 3
	it.Change = &deliveryqueue.Change{Remains: []broadcast.Delivery{{ID: messageID(2)}, {ID: messageID(3)}}}
	it = q.Stage()
	it.Kind, it.Message = deliveryqueue.Message, broadcast.Delivery{ID: messageID(9)} // of the next incarnation
	q.Commit()
	w := waitFor(&e.Outcomes, messageID(4), nil)
	for n := range uint64(3) {
		next, err := s.Next(t.Context())
		require.NoError(t, err)
		require.Equal(t, messageID(n+1), next.Delivery.ID)
		require.Empty(t, w.Given, "it may still come")
		_, more := s.More()
		require.False(t, more, "the next incarnation has not begun")
	}
	_, err = s.Next(t.Context())
	require.ErrorIs(t, err, ErrNextIncarnation)
	select {
	case <-w.Given:
		require.Equal(t, failaware.IncarnationEnded, w.Verdict.Unknown)
	default:
		require.Fail(t, "the caller waits for ever")
	}
}

func TestAnIncarnationEndsWhole(t *testing.T) { endsWhole(t) }
