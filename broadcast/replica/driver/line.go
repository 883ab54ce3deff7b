package driver

import (
	"context"
	"sync"

	"github.com/failaware/failaware/broadcast/replica"
)

// line is a queue of effects. Putting one in never waits, so that the machine's
// loop does not; what it holds is bounded by who fills it.
type line struct {
	mu      *sync.Mutex
	effects *[]replica.Effect
	filled  chan struct{}
	drained chan struct{} // one was taken from a line that was full
}

func newLine() line {
	return line{new(sync.Mutex), new([]replica.Effect), make(chan struct{}, 1), make(chan struct{}, 1)}
}

func (l line) len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(*l.effects)
}

func (l line) put(e replica.Effect) {
	l.mu.Lock()
	*l.effects = append(*l.effects, e)
	l.mu.Unlock()
	signal(l.filled)
}

// take waits for the first.
func (l line) take(ctx context.Context) (e replica.Effect, err error) {
	for {
		l.mu.Lock()
		if es := *l.effects; len(es) > 0 {
			e, es[0] = es[0], replica.Effect{}
			*l.effects = es[1:]
			l.mu.Unlock()
			if len(es) == maxCalls {
				signal(l.drained)
			}
			return e, nil
		}
		l.mu.Unlock()
		select {
		case <-l.filled:
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
