package api

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/event"
	"github.com/failaware/failaware/internal/kv"
	"github.com/failaware/failaware/leader/epoch"
	"github.com/failaware/failaware/timed"
)

func TestBroadcastAndDeliveries(t *testing.T) {
	n := startNode(t, failaware.Config{ID: 1, Broadcast: &failaware.BroadcastConfig{MaxPayload: 1000}})
	server, c := serveNode(t, n)
	ctx := t.Context()
	s, err := c.Broadcast(ctx, []byte("one\n"), url.Values{"order": {"total"}, "atomicity": {"strict"}, "wait": {"true"}})
	require.NoError(t, err)
	require.True(t, s.Delivered)
	require.Equal(t, uint64(1), s.Position)
	later, err := c.Broadcast(ctx, []byte("two"), url.Values{"order": {"timed"}})
	require.NoError(t, err)
	require.False(t, later.Delivered)
	require.Equal(t, Traffic{Sent: 2, SentBytes: 7}, Traffic{Sent: server.Traffic().Sent, SentBytes: server.Traffic().SentBytes})

	var views, got []Delivery // a busy machine makes more views than one
	r := &Resume{Last: "0"}
	read := func(follow bool) error { // the next message
		views, got = nil, nil
		return c.Deliveries(ctx, r, follow, nil, func(d Delivery) error {
			switch d.Kind {
			case "view":
				views = append(views, d)
				return nil
			case "transition": // from a view that ended before the next one began
				return nil
			}
			got = append(got, d)
			return errEnough
		})
	}
	require.Equal(t, errEnough, read(true))
	require.NotEmpty(t, views)
	require.Equal(t, 1, views[0].Members[0].Node)
	d := got[0]
	require.Equal(t, []string{"message", s.ID, "total", "strict", s.View}, []string{d.Kind, d.Message, d.Order, d.Atomicity, d.View})
	require.Equal(t, s.StampNS, d.StampNS)
	text, err := base64.StdEncoding.DecodeString(d.Payload)
	require.NoError(t, err)
	require.Equal(t, "one\n", string(text))
	r.Last = d.ID
	require.Equal(t, errEnough, read(true))
	require.Equal(t, later.ID, got[0].Message)
	r.Last = got[0].ID
	require.Equal(t, ErrEnd, read(false))
	require.Empty(t, got)

	for want, q := range map[string]url.Values{"order": {"order": {"x"}}, "atomicity": {"atomicity": {"x"}}, "wait": {"wait": {"x"}}} {
		_, err = c.Broadcast(ctx, nil, q)
		require.ErrorContains(t, err, want)
		require.Equal(t, http.StatusBadRequest, err.(*StatusError).Code)
	}
	_, err = c.Broadcast(ctx, []byte(strings.Repeat("x", 1001)), nil)
	require.Equal(t, http.StatusRequestEntityTooLarge, err.(*StatusError).Code)
}

// absentIsNoEnd asks for the deliveries so far where no node is: nobody has said that there are none.
func absentIsNoEnd(t testing.TB) {
	absent := NewClient(Address{Socket: filepath.Join(t.TempDir(), "none")}, "")
	_, unreachable := errors.AsType[*UnreachableError](absent.Deliveries(t.Context(), &Resume{}, false, nil, nil))
	require.True(t, unreachable)
}

func TestAnAbsentNodeIsNoEndOfItsDeliveries(t *testing.T) { absentIsNoEnd(t) }

func TestBroadcastThatIsOffSaysSo(t *testing.T) {
	n := startNode(t, failaware.Config{ID: 1})
	_, c := serveNode(t, n)
	_, err := c.Broadcast(t.Context(), nil, nil)
	require.ErrorContains(t, err, "it runs without --broadcast")
	require.Equal(t, http.StatusNotImplemented, err.(*StatusError).Code)
	err = c.Deliveries(t.Context(), &Resume{}, true, nil, nil)
	require.ErrorContains(t, err, "it runs without --broadcast")
}

func TestDeliveryLogKeepsTheLatest(t *testing.T) {
	l := newDeliveryLog()
	batch := make([]failaware.Delivery, 100)
	for i := range batch {
		batch[i] = failaware.Delivery{View: &failaware.View{}}
	}
	for range MostKept/100 + 1 {
		l.add(batch, false)
	}
	total := uint64(MostKept/100+1) * 100
	require.Equal(t, total, l.latest())
	next, missed := uint64(1), uint64(0)
	for k := range l.since(t.Context(), 0, false) {
		if k.missed > 0 {
			missed += k.missed
			next += k.missed
			require.Equal(t, next-1, k.sequence, "a client that goes on from here gets the next item")
			continue
		}
		require.Equal(t, next, k.sequence)
		next++
	}
	require.Equal(t, total-MostKept, missed)
	require.Equal(t, total+1, next)

	large := failaware.Delivery{View: &failaware.View{}, Payload: make([]byte, MostKeptBytes)}
	l.add([]failaware.Delivery{large, large}, false)
	require.Len(t, l.items, 1)
	large.Payload = make([]byte, MostKeptBytes+1)
	l.add([]failaware.Delivery{large}, true)
	require.Empty(t, l.items)
	for k := range l.since(t.Context(), total, true) {
		require.Equal(t, uint64(3), k.missed)
	}
}

// A number that is still to come is of another run, so a client gets all that is kept.
func TestDeliveriesOfAnotherRunBeginAnew(t *testing.T) { deliveriesBeginAnew(t) }

func deliveriesBeginAnew(t testing.TB) {
	l := newDeliveryLog()
	l.add(make([]failaware.Delivery, 3), false)
	for _, ahead := range []uint64{4, 5, 100, math.MaxUint64} {
		var got []uint64
		for k := range l.since(t.Context(), ahead, false) {
			got = append(got, k.sequence)
			if len(got) > 9 {
				break
			}
		}
		require.Equal(t, []uint64{1, 2, 3}, got, "after %d", ahead)
	}
}

// A payload is the node's again when the next ones are taken.
func TestKeptPayloadsStay(t *testing.T) {
	l := newDeliveryLog()
	payload := []byte("one")
	l.add([]failaware.Delivery{{View: &failaware.View{}, Payload: payload}}, true)
	copy(payload, "two")
	for k := range l.since(t.Context(), 0, true) {
		require.Equal(t, "one", string(k.Payload))
	}
	require.EqualValues(t, 1, l.latest())
}

// Operations are kept like deliveries, and are no messages of clients.
func TestOperationsAreKept(t *testing.T) {
	operations := NewStoreLog()
	for range MostKept + 7 {
		operations.Add(Operation{})
	}
	l := operations.log
	messages, _ := l.delivered()
	require.Zero(t, messages)
	missed, found := uint64(0), 0
	for k := range l.since(t.Context(), 0, false) {
		missed += k.missed
		if k.operation != nil {
			found++
		}
	}
	require.Equal(t, uint64(7), missed)
	require.Equal(t, MostKept, found)
}

// messagesOfAStore broadcasts beside a store, in both ways, and returns the payloads that its log
// shows.
func messagesOfAStore(t *testing.T) (payloads []string) {
	n := startNode(t, failaware.Config{ID: 1, Broadcast: &failaware.BroadcastConfig{MaxPayload: 1000}})
	server, c := serveWith(t, NewServerWithStore(n, newLoneStore()))
	sent, err := c.Broadcast(t.Context(), []byte("one"), url.Values{"order": {"unordered"}, "atomicity": {"weak"}})
	require.NoError(t, err)
	require.Regexp(t, "^1/", sent.ID)
	waited, err := c.Broadcast(t.Context(), []byte("two"), url.Values{"wait": {"true"}})
	require.NoError(t, err)
	require.True(t, waited.Delivered)
	require.EqualValues(t, 2, server.Traffic().Sent)
	_, err = c.Broadcast(t.Context(), make([]byte, 1000), nil)
	require.ErrorContains(t, err, "999 bytes are the most", "the store needs one")
	require.ErrorIs(t, c.Deliveries(t.Context(), &Resume{Last: "0"}, false, nil, func(d Delivery) error {
		require.Equal(t, "message", d.Kind)
		require.Empty(t, d.View)
		text, err := base64.StdEncoding.DecodeString(d.Payload)
		payloads = append(payloads, string(text))
		return err
	}), ErrEnd)
	return payloads
}

// Messages of clients pass beside the operations of a store, and its node shows them.
func TestMessagesPassBesideAStore(t *testing.T) {
	require.Equal(t, []string{"one", "two"}, messagesOfAStore(t))
}

// streamsEnd follows the messages and the keys of a store that stops. Both streams end then, with
// what came before.
func streamsEnd(t *testing.T) {
	n := startNode(t, failaware.Config{ID: 1, Broadcast: &failaware.BroadcastConfig{}})
	store := newLoneStore()
	_, c := serveWith(t, NewServerWithStore(n, store))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	texts := map[string]string{"/v1/deliveries?follow=true": `"bGF0ZQ=="`, "/v1/kv/watch": `"late"`}
	streams := map[string]io.ReadCloser{}
	for path := range texts {
		res, err := c.send(ctx, http.MethodGet, path, "", nil)
		require.NoError(t, err)
		defer res.Body.Close()
		streams[path] = res.Body
	}
	require.NoError(t, n.Close())
	store.log.AddMessage(failaware.Delivery{Payload: []byte("late")})
	_, err := store.Submit(ctx, kv.Command{Op: kv.Put, Key: "late"}, Attempt{})
	require.NoError(t, err)
	close(store.done)
	for path, r := range streams {
		all, err := io.ReadAll(r)
		require.NoError(t, err)
		require.Contains(t, string(all), texts[path])
	}
}

func TestStreamsOfAStoreEndWithTheNode(t *testing.T) { streamsEnd(t) }

// statusesOfErrors asks for the statuses of all errors. Clients repeat what is answered 503, so an
// outcome that nobody knows has another one.
func statusesOfErrors(t testing.TB) {
	unknown := &failaware.UnknownOutcomeError{Reason: failaware.NotAwaited, Err: context.DeadlineExceeded}
	for status, errs := range map[int][]error{
		http.StatusConflict:              {failaware.ErrNoQuorum, failaware.ErrSendOnly},
		http.StatusRequestEntityTooLarge: {fmt.Errorf("%w: 9 bytes", failaware.ErrTooLarge)},
		http.StatusGatewayTimeout:        {unknown, fmt.Errorf("wrapped: %w", unknown)},
		http.StatusServiceUnavailable:    {failaware.ErrClosed, failaware.ErrWindowFull, errTooLong},
	} {
		for _, err := range errs {
			require.Equal(t, status, broadcastCode(err), "%v", err)
		}
	}
	for status, errs := range map[int][]error{
		http.StatusBadRequest:            {badRequest{errors.New("x")}, kv.ErrKey, kv.ErrTTL},
		http.StatusRequestEntityTooLarge: {kv.ErrValue, failaware.ErrTooLarge},
		http.StatusGone:                  {kv.ErrCompacted, kv.ErrOtherPart},
		http.StatusTeapot:                {&SessionError{Code: http.StatusTeapot}},
		http.StatusGatewayTimeout:        {unknown},
		http.StatusServiceUnavailable:    {failaware.ErrClosed, failaware.ErrNoQuorum, errTooLong, kv.ErrAhead},
	} {
		for _, err := range errs {
			require.Equal(t, status, kvCode(fmt.Errorf("wrapped: %w", err)), "%v", err)
		}
	}
	for status, errs := range map[int][]error{
		http.StatusBadRequest:         {epoch.ErrSystem, failaware.ErrStaticQuorum},
		http.StatusServiceUnavailable: {failaware.ErrClosed},
		http.StatusConflict:           {failaware.ErrNotLeader, failaware.ErrSuperseded, failaware.ErrStateNotReady, epoch.ErrUnderWay},
	} {
		for _, err := range errs {
			require.Equal(t, status, changeCode(fmt.Errorf("wrapped: %w", err), false), "%v", err)
		}
	}
	require.Equal(t, http.StatusGatewayTimeout, changeCode(errTooLong, true))
}

func TestStatusesOfErrors(t *testing.T) { statusesOfErrors(t) }

// outcomesSayAll requires that clients learn all that the node knows of a message that was delivered,
// from the answer to who sent it, and from a stream.
func outcomesSayAll(t testing.TB) {
	v := &failaware.View{ID: failaware.ViewID{Sequence: 7, Leader: 2, Boot: 3}}
	o := failaware.Outcome{ID: failaware.MessageID{Sender: 2, Class: 1, Boot: 3, Sequence: 9}, View: v, Transitional: true, Position: 5, Stamp: 11, Deviation: 12}
	deviation := int64(12)
	require.Equal(t, Sent{ID: o.ID.String(), Delivered: true, View: v.ID.String(), Transitional: true, Position: 5, StampNS: 11, DeviationNS: &deviation}, sentOf(&o))

	k := numberedItem{item: item{Delivery: failaware.Delivery{View: v, ID: o.ID, Order: failaware.TimedOrder, Atomicity: failaware.WeakAtomicity, Transitional: true,
		Position: 5, Stamp: 11, Deviation: 12, Payload: []byte("x")}}, sequence: 8}
	require.Equal(t, Delivery{ID: eventID("run", 8), Sequence: 8, Node: 1, Kind: "message", View: v.ID.String(), Message: o.ID.String(), Sender: 2, Boot: bootText(3),
		Order: "timed", Atomicity: "weak", Transitional: true, Position: 5, StampNS: 11, DeviationNS: &deviation, Payload: "eA=="}, deliveryOf(&k, 1, "run"))
}

func TestOutcomesSayAllThatIsKnown(t *testing.T) { outcomesSayAll(t) }

// changesSayAll requires that a stream says all of what is no message.
func changesSayAll(t testing.TB) {
	v := &failaware.View{ID: failaware.ViewID{Sequence: 7, Leader: 2, Boot: 3}}
	next := &failaware.View{ID: failaware.ViewID{Sequence: 8, Leader: 2, Boot: 3}}
	from := failaware.MessageID{Sender: 2, Class: 1, Boot: 3, Sequence: 9}
	through := from
	through.Sequence = 12
	for _, c := range []struct {
		change failaware.Change
		want   Delivery
	}{
		{failaware.OutcomeLost{From: from, Through: through}, Delivery{Kind: "outcome-lost", Message: through.String(), From: 9, Through: 12}},
		{failaware.TransitionBegins{Next: next, Along: timed.SetOf(1, 2)}, Delivery{Kind: "transition", NextView: next.ID.String(), Along: []int{1, 2}}},
		{failaware.ViewChange{Previous: next.ID, Along: timed.SetOf(2), Merged: []failaware.Branch{{From: next.ID, Members: timed.SetOf(2)}}},
			Delivery{Kind: "view", Members: []Member{}, PreviousView: next.ID.String(), Along: []int{2}, Merged: []Branch{{next.ID.String(), []int{2}}}}},
		{failaware.NewIncarnation{Boot: 5, Reason: event.ClockRate}, Delivery{Kind: "new-incarnation", Boot: bootText(5), Reason: string(event.ClockRate)}},
	} {
		c.want.ID, c.want.Sequence, c.want.Node, c.want.View = eventID("run", 8), 8, 1, v.ID.String()
		k := numberedItem{item: item{Delivery: failaware.Delivery{View: v, Change: c.change}}, sequence: 8}
		require.Equal(t, c.want, deliveryOf(&k, 1, "run"))
	}
}

func TestChangesSayAllThatIsKnown(t *testing.T) { changesSayAll(t) }
