package engine

import (
	"context"
	"sync"
)

// queue is a queue of work. Putting some in never waits, so that the machine's loop does
// not: it must hear of views even while the application hangs.
type queue[T any] struct {
	mu     sync.Mutex
	list   []T // from head
	head   int
	filled chan struct{}

	// With a weight, the queue is full while more than limit waits, and until half of it
	// is taken.
	weight func(*T) int
	limit  int
	weighs int
	full   bool
	eased  chan struct{} // it is not full any more
}

// mostSpare is how many places an empty queue keeps.
const mostSpare = 1024

func newQueue[T any](limit int, weight func(*T) int) *queue[T] {
	return &queue[T]{filled: make(chan struct{}, 1), eased: make(chan struct{}, 1), limit: limit, weight: weight}
}

func (q *queue[T]) len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.list) - q.head
}

func (q *queue[T]) isFull() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.full
}

func (q *queue[T]) put(x T) {
	q.mu.Lock()
	if len(q.list) == cap(q.list) && q.head > len(q.list)/2 {
		n := copy(q.list, q.list[q.head:])
		clear(q.list[n:])
		q.list, q.head = q.list[:n], 0
	}
	q.list = append(q.list, x)
	if q.weight != nil {
		q.weighs += q.weight(&x)
		q.full = q.full || q.weighs > q.limit
	}
	q.mu.Unlock()
	signal(q.filled)
}

// take waits for the first item.
func (q *queue[T]) take(ctx context.Context) (x T, err error) {
	for {
		if x, ok := q.first(); ok {
			return x, nil
		}
		select {
		case <-q.filled:
		case <-ctx.Done():
			return x, ctx.Err()
		}
	}
}

func (q *queue[T]) first() (x T, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.head == len(q.list) {
		return x, false
	}
	var none T
	x, q.list[q.head] = q.list[q.head], none
	if q.head++; q.head == len(q.list) {
		if q.list, q.head = q.list[:0], 0; cap(q.list) > mostSpare {
			q.list = nil
		}
	}
	if q.weight != nil {
		q.weighs -= q.weight(&x)
		if q.full && q.weighs <= q.limit/2 {
			q.full = false
			signal(q.eased)
		}
	}
	return x, true
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
