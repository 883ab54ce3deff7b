package handler

import (
	"sync"

	"github.com/failaware/failaware/event"
)

// queue has the events that wait for a handler. One goroutine adds, and one takes.
type queue struct {
	most int // QueueSize, but in tests

	mu      sync.Mutex
	events  []event.Event
	dropped uint64 // since the last event was taken
	closed  bool
	wake    chan struct{} // has room for one
}

func newQueue(most int) *queue { return &queue{most: most, wake: make(chan struct{}, 1)} }

// add adds an event. If the queue is full, the oldest event goes: what happened last
// matters most. It returns how many events were dropped since the last one was taken.
func (q *queue) add(e event.Event) (dropped uint64) {
	q.mu.Lock()
	if len(q.events) >= q.most {
		q.events = append(q.events[:0], q.events[1:]...)
		q.dropped++
	}
	q.events = append(q.events, e)
	dropped = q.dropped
	q.mu.Unlock()
	q.poke()
	return dropped
}

// miss counts events that did not even reach the queue.
func (q *queue) miss(n uint64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.dropped += n
}

// close says that no more events will come. Those in the queue can still be taken.
func (q *queue) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.poke()
}

func (q *queue) poke() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// take waits for the next event, and returns it with the number of events that were
// dropped before it. It returns false when no more will come, or done is closed.
func (q *queue) take(done <-chan struct{}) (e event.Event, dropped uint64, ok bool) {
	for {
		select {
		case <-done:
			return nil, 0, false
		default:
		}
		q.mu.Lock()
		if len(q.events) > 0 {
			e, dropped = q.events[0], q.dropped
			q.events = append(q.events[:0], q.events[1:]...)
			q.dropped = 0
			q.mu.Unlock()
			return e, dropped, true
		}
		closed := q.closed
		q.mu.Unlock()
		if closed {
			return nil, 0, false
		}
		select {
		case <-q.wake:
		case <-done:
			return nil, 0, false
		}
	}
}

// left returns how many events wait, or were dropped since the last one was taken.
func (q *queue) left() uint64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return uint64(len(q.events)) + q.dropped
}
