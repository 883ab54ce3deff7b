package engine

import (
	"context"
	"sync"

	"github.com/failaware/failaware/internal/replica"
)

// queue is a queue of effects. Putting one in never waits, so that the machine's
// loop does not. The loop bounds it by reading no more while it is long.
type queue struct {
	*effects
	filled  chan struct{}
	drained chan struct{} // an effect was taken from a queue of maxCalls
}

type effects struct {
	mu   sync.Mutex
	list []replica.Effect
}

func newQueue() queue {
	return queue{new(effects), make(chan struct{}, 1), make(chan struct{}, 1)}
}

func (q queue) len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.list)
}

func (q queue) put(e replica.Effect) {
	q.mu.Lock()
	q.list = append(q.list, e)
	q.mu.Unlock()
	signal(q.filled)
}

// take waits for the first effect.
func (q queue) take(ctx context.Context) (e replica.Effect, err error) {
	for {
		q.mu.Lock()
		if n := len(q.list); n > 0 {
			e, q.list[0] = q.list[0], replica.Effect{}
			q.list = q.list[1:]
			q.mu.Unlock()
			if n == maxCalls {
				signal(q.drained)
			}
			return e, nil
		}
		q.mu.Unlock()
		select {
		case <-q.filled:
		case <-ctx.Done():
			return e, ctx.Err()
		}
	}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
