package api

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strconv"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/clocksync"
)

// Orders and Atomicities are the names of the choices for a message. The first of each
// is the default.
var (
	Orders      = []string{failaware.TotalOrder.String(), failaware.TimedOrder.String(), failaware.Unordered.String()}
	Atomicities = []string{failaware.StrongAtomicity.String(), failaware.StrictAtomicity.String(), failaware.WeakAtomicity.String()}
)

// choice returns the index of a parameter's value among names. A missing parameter
// means the first.
func choice(q *http.Request, name string, names []string) (int, error) {
	v := q.URL.Query().Get(name)
	for i, s := range names {
		if v == s || v == "" {
			return i, nil
		}
	}
	return 0, fmt.Errorf("%s %.50q is none of %v", name, v, names)
}

// flagOf returns a boolean parameter, or otherwise if it is missing.
func flagOf(q *http.Request, name string, otherwise bool) (bool, error) {
	v := q.URL.Query().Get(name)
	if v == "" {
		return otherwise, nil
	}
	b, err := strconv.ParseBool(v)
	if err != nil {
		return false, fmt.Errorf("%s: %.50q is neither true nor false", name, v)
	}
	return b, nil
}

// messenger sends messages to the members of the view.
type messenger interface {
	Broadcast(context.Context, []byte, failaware.BroadcastOptions) (failaware.MessageID, error)
	BroadcastAndWait(context.Context, []byte, failaware.BroadcastOptions) (failaware.Outcome, error)
}

// messenger returns what sends the messages of clients. The deliveries of a node with a store
// belong to that, and it hands out only messages that it has sent.
func (s *Server) messenger() messenger {
	if s.store != nil {
		return s.store
	}
	return s.node
}

// broadcast sends the body to the members of the view.
func (s *Server) broadcast(w http.ResponseWriter, q *http.Request) {
	order, err1 := choice(q, "order", Orders)
	atomicity, err2 := choice(q, "atomicity", Atomicities)
	wait, err3 := flagOf(q, "wait", false)
	if err := errors.Join(err1, err2, err3); err != nil {
		Fail(w, http.StatusBadRequest, err)
		return
	}
	if s.cfg.Broadcast == nil {
		Fail(w, http.StatusNotImplemented, errNoBroadcast)
		return
	}
	payload, err := io.ReadAll(q.Body)
	if err != nil {
		Fail(w, http.StatusBadRequest, err)
		return
	}
	ctx, cancel := context.WithTimeoutCause(q.Context(), CommandLimit, errTooLong)
	defer cancel()
	opts := failaware.BroadcastOptions{Order: failaware.Order(order), Atomicity: failaware.Atomicity(atomicity)}
	if !wait {
		id, err := s.messenger().Broadcast(ctx, payload, opts)
		if err != nil {
			Fail(w, broadcastCode(err), err)
			return
		}
		s.countSent(payload)
		Answer(w, http.StatusOK, Sent{ID: id.String()})
		return
	}
	o, err := s.messenger().BroadcastAndWait(ctx, payload, opts)
	if err != nil {
		Fail(w, broadcastCode(err), err)
		return
	}
	s.countSent(payload)
	Answer(w, http.StatusOK, sentOf(&o))
}

// sentOf returns the wire form of the outcome of a message that was delivered.
func sentOf(o *failaware.Outcome) Sent {
	return Sent{ID: o.ID.String(), Delivered: true, View: idText(o.View.ID), Position: o.Position,
		Transitional: o.Transitional, StampNS: int64(o.Stamp), DeviationNS: known(o.Deviation, clocksync.UnknownBound)}
}

func (s *Server) countSent(payload []byte) {
	s.sent.Add(1)
	s.sentBytes.Add(uint64(len(payload)))
}

var errNoBroadcast = errors.New("this node has no broadcast: it runs without --broadcast")

var errTooLong = errors.New("the answer took too long")

// broadcastCode returns the status code for the error of a broadcast.
func broadcastCode(err error) int {
	switch {
	case errors.Is(err, failaware.ErrNoQuorum), errors.Is(err, failaware.ErrSendOnly):
		return http.StatusConflict
	case errors.Is(err, failaware.ErrTooLarge):
		return http.StatusRequestEntityTooLarge
	case errors.Is(err, failaware.ErrOutcomeUnknown):
		return http.StatusGatewayTimeout
	}
	return http.StatusServiceUnavailable
}

// deliveries streams the node's deliveries: new ones, or those from Last-Event-ID or
// ?since= on. With ?follow=false the stream ends after the existing ones.
func (s *Server) deliveries(w http.ResponseWriter, q *http.Request) {
	follow, err := flagOf(q, "follow", true)
	switch {
	case err != nil:
		Fail(w, http.StatusBadRequest, err)
	case s.cfg.Broadcast == nil:
		Fail(w, http.StatusNotImplemented, errNoBroadcast)
	case s.kept == nil:
		Fail(w, http.StatusConflict, failaware.ErrSendOnly)
	default:
		whole := s.streams.Serve(w, q, s.kept.latest(), func(ctx context.Context, seq uint64) iter.Seq[[]byte] {
			return func(yield func([]byte) bool) {
				for k := range s.kept.since(ctx, seq, follow) {
					d := deliveryOf(&k, s.node.ID(), s.streams.run)
					if !yield(s.streams.Message(k.sequence, d.Kind, d)) {
						return
					}
				}
			}
		})
		if !follow && !whole {
			panic(http.ErrAbortHandler) // so that the client takes it for no end
		}
	}
}

// deliveryOf returns the wire form of an item.
func deliveryOf(k *numberedItem, node failaware.NodeID, run string) Delivery {
	w := Delivery{ID: eventID(run, k.sequence), Sequence: k.sequence, Node: int(node)}
	if k.missed > 0 {
		w.Kind, w.Count = "missed", k.missed
		return w
	}
	if k.operation != nil {
		k.operation.wire(&w)
		return w
	}
	w.View = idText(k.View.ID)
	switch c := k.Change.(type) {
	case nil:
		w.Kind, w.Message, w.Sender, w.Boot = "message", k.Delivery.ID.String(), int(k.Delivery.ID.Sender), bootText(k.Delivery.ID.Boot)
		w.Order, w.Atomicity, w.Transitional, w.Position = k.Order.String(), k.Atomicity.String(), k.Transitional, k.Position
		w.StampNS, w.DeviationNS = int64(k.Stamp), known(k.Deviation, clocksync.UnknownBound)
		w.Payload = base64.StdEncoding.EncodeToString(k.Payload)
	case failaware.TransitionBegins:
		w.Kind, w.NextView, w.Along = "transition", idText(c.Next.ID), setOf(c.Along)
	case failaware.ViewChange:
		w.Kind = "view"
		w.Members, w.PreviousView, w.Along, w.Merged = membersOf(k.View), idText(c.Previous), setOf(c.Along), branchesOf(c.Merged)
	case failaware.OutcomeLost:
		w.Kind, w.Message, w.From, w.Through = "outcome-lost", c.Through.String(), c.From.Sequence, c.Through.Sequence
	case failaware.NewIncarnation:
		w.Kind, w.Boot, w.Reason = "new-incarnation", bootText(c.Boot), string(c.Reason)
	}
	return w
}
