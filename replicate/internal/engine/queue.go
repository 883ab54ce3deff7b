package engine

import (
	"context"
	"sync"
)

// queue is a queue of work. Putting some in never waits, so that the machine's loop does
// not. The loop bounds it by reading no more while it is long.
type queue[T any] struct {
	mu      sync.Mutex
	list    []T
	filled  chan struct{}
	drained chan struct{} // an item was taken from a queue of maxCalls
}

func newQueue[T any]() *queue[T] {
	return &queue[T]{filled: make(chan struct{}, 1), drained: make(chan struct{}, 1)}
}

func (q *queue[T]) len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.list)
}

func (q *queue[T]) put(x T) {
	q.mu.Lock()
	q.list = append(q.list, x)
	q.mu.Unlock()
	signal(q.filled)
}

// take waits for the first item.
func (q *queue[T]) take(ctx context.Context) (x T, err error) {
	var none T
	for {
		q.mu.Lock()
		if n := len(q.list); n > 0 {
			x, q.list[0] = q.list[0], none
			q.list = q.list[1:]
			q.mu.Unlock()
			if n == maxCalls {
				signal(q.drained)
			}
			return x, nil
		}
		q.mu.Unlock()
		select {
		case <-q.filled:
		case <-ctx.Done():
			return x, ctx.Err()
		}
	}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
