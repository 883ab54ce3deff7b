package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"strings"
	"time"
)

// events streams the node's events as server-sent events: new ones, or those from
// Last-Event-ID or ?since= on.
func (s *Server) events(w http.ResponseWriter, q *http.Request) {
	topic := q.URL.Query().Get("topic")
	if topic == "" {
		topic = "all"
	}
	if _, known := topics[topic]; !known {
		fail(w, http.StatusBadRequest, fmt.Errorf("topic %.50q is none of %s", topic, strings.Join(Topics(), ", ")))
		return
	}
	s.stream(w, q, sinceOf(q), s.last.Load(), func(ctx context.Context, seq uint64) iter.Seq[[]byte] {
		return func(yield func([]byte) bool) {
			for e := range s.node.EventsSince(ctx, seq) {
				if !wanted(topic, e.Kind()) {
					continue
				}
				msg := s.message(e.Head().Sequence, e.Kind(), eventOf(e, s.node.ID(), s.run))
				if !yield(msg) {
					return
				}
			}
		}
	})
}

// message returns a server-sent event.
func (s *Server) message(seq uint64, kind string, v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Appendf(nil, ": event %d cannot be encoded\n\n", seq)
	}
	return fmt.Appendf(nil, "id: %s\nevent: %s\ndata: %s\n\n", eventID(s.run, seq), kind, b)
}

// stream answers with a stream: from the id since on, or from last if since is empty.
func (s *Server) stream(w http.ResponseWriter, q *http.Request, since string, last uint64,
	messages func(context.Context, uint64) iter.Seq[[]byte]) {
	ctx, cancel := context.WithCancel(q.Context())
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	seq := last
	if since != "" {
		var err error
		if seq, err = parseEventID(since, s.run); err != nil {
			fail(w, http.StatusBadRequest, err)
			return
		}
	}
	feed := messages(ctx, seq)
	if s.streams.Add(1) > MaxStreams {
		s.streams.Add(-1)
		fail(w, http.StatusServiceUnavailable, errors.New("too many streams of events"))
		return
	}
	defer s.streams.Add(-1)
	out := &sender{w: w, control: http.NewResponseController(w)}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Failaware-Run", s.run)
	w.Header().Set("Failaware-Last", eventID(s.run, seq)) // for clients that are cut off before the first event
	w.WriteHeader(http.StatusOK)
	if q.Method == http.MethodHead || out.send([]byte(": events\n\n")) != nil {
		return
	}
	s.relay(ctx, cancel, out, feed)
}

// sinceOf returns the id after which a client wants a stream to continue. The header,
// which browsers send when they connect again, has precedence.
func sinceOf(q *http.Request) string {
	if id := q.Header.Get("Last-Event-ID"); id != "" {
		return id
	}
	return q.URL.Query().Get("since")
}

// relay sends messages, and regularly a comment, so that each side notices the end of
// the other.
func (s *Server) relay(ctx context.Context, cancel context.CancelFunc, out *sender, messages iter.Seq[[]byte]) {
	feed := make(chan []byte)
	go func() {
		defer close(feed)
		for msg := range messages {
			select {
			case feed <- msg:
			case <-ctx.Done():
				return
			}
		}
	}()
	tick := time.NewTicker(s.beat)
	defer tick.Stop()
	for {
		msg := []byte(": beat\n\n")
		select {
		case m, more := <-feed:
			if !more {
				return
			}
			msg = m
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		if out.send(msg) != nil {
			cancel()
			return
		}
	}
}

// sender writes pieces of a stream, each with its own deadline.
type sender struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

func (s *sender) send(b []byte) error {
	err := s.control.SetWriteDeadline(time.Now().Add(writeTimeout))
	if err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	if _, err := s.w.Write(b); err != nil {
		return err
	}
	return s.control.Flush()
}
