package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// Streams serves streams of server-sent events to a limited number of clients, who may
// resume a stream by the id of the last event that they have seen. Make one with
// [NewStreams]. All methods are safe for concurrent use.
type Streams struct {
	run  string // distinguishes the runs of the program, whose sequence numbers do not compare
	most int32
	beat time.Duration
	open atomic.Int32
	ctx  context.Context
}

// NewStreams returns a value that serves streams until ctx is done.
func NewStreams(ctx context.Context) *Streams {
	return &Streams{run: NewRun(), most: MaxStreams, beat: heartbeat, ctx: ctx}
}

// ID returns the id of the event with a sequence number.
func (s *Streams) ID(seq uint64) string { return eventID(s.run, seq) }

// events streams the node's events as server-sent events: new ones, or those from
// Last-Event-ID or ?since= on.
func (s *Server) events(w http.ResponseWriter, q *http.Request) {
	topic := q.URL.Query().Get("topic")
	if topic == "" {
		topic = "all"
	}
	if _, known := topics[topic]; !known {
		Fail(w, http.StatusBadRequest, fmt.Errorf("topic %.50q is none of %s", topic, strings.Join(Topics(), ", ")))
		return
	}
	s.streams.Serve(w, q, s.last.Load(), func(ctx context.Context, seq uint64) iter.Seq[[]byte] {
		return func(yield func([]byte) bool) {
			for e := range s.node.EventsSince(ctx, seq) {
				if wanted(topic, e.Kind()) && !yield(s.streams.Message(e.Head().Sequence, e.Kind(), s.eventOf(e))) {
					return
				}
			}
		}
	})
}

// Message returns a server-sent event with a sequence number, a kind, and a value as
// JSON.
func (s *Streams) Message(seq uint64, kind string, v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Appendf(nil, ": event %d cannot be encoded\n\n", seq)
	}
	return fmt.Appendf(nil, "id: %s\nevent: %s\ndata: %s\n\n", eventID(s.run, seq), kind, b)
}

// Serve answers with a stream: from Last-Event-ID or ?since= on, or from last if the
// request has neither. messages returns the messages after a sequence number until its
// context is done. whole is false if it was cut off.
func (s *Streams) Serve(w http.ResponseWriter, q *http.Request, last uint64,
	messages func(context.Context, uint64) iter.Seq[[]byte]) (whole bool) {
	seq := last
	if since := sinceOf(q); since != "" {
		var err error
		if seq, err = parseEventID(since, s.run); err != nil {
			Fail(w, http.StatusBadRequest, fmt.Errorf("since: %w", err))
			return true
		}
	}
	return s.stream(w, q, eventID(s.run, seq), func(ctx context.Context) iter.Seq[[]byte] { return messages(ctx, seq) })
}

// stream answers with a stream of messages. last is the id to resume with for clients that
// are cut off before the first one. whole is false if the stream was cut off.
func (s *Streams) stream(w http.ResponseWriter, q *http.Request, last string, messages func(context.Context) iter.Seq[[]byte]) (whole bool) {
	ctx, cancel := context.WithCancel(q.Context())
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	feed := messages(ctx)
	if s.open.Add(1) > s.most {
		s.open.Add(-1)
		Fail(w, http.StatusServiceUnavailable, errors.New("too many streams of events"))
		return true
	}
	defer s.open.Add(-1)
	out := &sender{w: w, control: http.NewResponseController(w)}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Failaware-Run", s.run)
	w.Header().Set("Failaware-Last", last)
	w.WriteHeader(http.StatusOK)
	if q.Method == http.MethodHead {
		return true
	}
	return out.send([]byte(": events\n\n")) == nil && s.relay(ctx, out, feed)
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
// the other. It reports whether it has sent all messages. ctx must end when it has returned.
func (s *Streams) relay(ctx context.Context, out *sender, messages iter.Seq[[]byte]) bool {
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
				return ctx.Err() == nil // otherwise the messages may have ended early
			}
			msg = m
		case <-tick.C:
		case <-ctx.Done():
			return false
		}
		if out.send(msg) != nil {
			return false
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
