package handler

import (
	"context"
	"encoding/json"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/event"
	"github.com/failaware/failaware/internal/api"
)

// Limits of a handler.
const (
	// QueueSize is how many events may wait for one handler.
	QueueSize = 256
	// DefaultTimeout is how long it may take for one event.
	DefaultTimeout = 30 * time.Second
	// CloseTime is how long all handlers may take for the remaining events when the node has
	// ended.
	CloseTime = 5 * time.Second
)

// Config is what all handlers of a node share.
type Config struct {
	Node        failaware.NodeID
	Name, Group string
	API         string        // address of the node's API; empty if there is none
	TokenFile   string        // with the token of that address; empty if it needs none
	Run         string        // of the node, for the ids of events
	Timeout     time.Duration // of one event
	Close       time.Duration // [CloseTime], but in tests
	Log         hclog.Logger
}

// Counts says what became of events.
type Counts struct {
	Handled, Failed uint64
	Dropped         uint64 // without an attempt
}

// Set are the running handlers of a node.
type Set struct {
	c      Config
	ctx    context.Context // of the commands and requests
	cancel context.CancelCauseFunc
	all    []*running
	wg     sync.WaitGroup
}

// running is one handler.
type running struct {
	Spec
	c     *Config
	queue *queue

	handled, failed, dropped atomic.Uint64
}

// Start starts handlers for events. Each reads the events by an iterator of its own,
// which ends when the node has stopped.
func Start(c Config, specs []Spec, events func() iter.Seq[event.Event]) *Set {
	s := &Set{c: c}
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	for _, spec := range specs {
		r := &running{Spec: spec, c: &s.c, queue: newQueue(QueueSize)}
		s.all = append(s.all, r)
		feed := events() // before Start returns, so that no event is missed
		s.wg.Go(func() { r.read(feed) })
		s.wg.Go(func() { r.work(s.ctx) })
	}
	return s
}

// read puts events into the queue.
func (r *running) read(events iter.Seq[event.Event]) {
	defer r.queue.close()
	for e := range events {
		if m, ok := e.(event.Missed); ok {
			r.queue.miss(m.Count)
			r.c.Log.Warn("a handler missed events: the buffer of the node ran over", "handler", r.String(), "count", m.Count)
		}
		if !slices.Contains(r.Kinds, e.Kind()) {
			continue
		}
		if r.queue.add(e) == 1 {
			r.c.Log.Warn("a handler is too slow: events are dropped, the oldest ones first", "handler", r.String(), "queue", QueueSize)
		}
	}
}

// work handles the events of the queue one after the other.
func (r *running) work(ctx context.Context) {
	untold := uint64(0) // lost events that no successful run has been told of
	for {
		e, dropped, ok := r.queue.take(ctx.Done())
		if !ok {
			return
		}
		r.dropped.Add(dropped)
		if dropped > 0 {
			r.c.Log.Warn("events were dropped before a handler could run", "handler", r.String(), "count", dropped, "in all", r.dropped.Load())
		}
		began := time.Now()
		untold += dropped
		err := r.handle(ctx, e, untold)
		log := r.c.Log.With("handler", r.String(), "event", e.Kind(), "sequence", e.Head().Sequence, "took", time.Since(began))
		if err != nil {
			r.failed.Add(1)
			untold++
			log.Warn("a handler failed; the event is not handled again", "error", err)
			continue
		}
		r.handled.Add(1)
		untold = 0
		log.Debug("a handler was run")
	}
}

// handle runs the command, or calls the webhook, for one event.
func (r *running) handle(ctx context.Context, e event.Event, dropped uint64) error {
	ctx, cancel := context.WithTimeoutCause(ctx, r.c.Timeout, errLate)
	defer cancel()
	data, err := json.Marshal(api.EventOf(e, r.c.Node, r.c.Run))
	if err != nil {
		return err
	}
	data = append(data, '\n')
	if r.URL != "" {
		return r.post(ctx, e, dropped, data)
	}
	return r.command(ctx, e, dropped, data)
}

// Close waits until the events are handled that came before the end of the node, but
// not for longer than [CloseTime]. Then it ends what still runs.
func (s *Set) Close() {
	late := time.AfterFunc(s.c.Close, func() { s.cancel(errEnded) })
	s.wg.Wait()
	late.Stop()
	s.cancel(errEnded)
	for _, r := range s.all {
		if n := r.queue.left(); n > 0 {
			r.dropped.Add(n)
			s.c.Log.Warn("events were not handled before the process ended", "handler", r.String(), "count", n)
		}
	}
}

// Counts returns what became of the events for all handlers together. Events that wait
// are in none of the counts, and dropped ones are counted when the next one is taken.
func (s *Set) Counts() (c Counts) {
	for _, r := range s.all {
		c.Handled += r.handled.Load()
		c.Failed += r.failed.Load()
		c.Dropped += r.dropped.Load()
	}
	return c
}
