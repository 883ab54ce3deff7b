package engine

import (
	"context"
	"fmt"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/replica"
	"github.com/failaware/failaware/leader/quorum"
)

// MayReplace returns nil if the quorum system of an epoch may be replaced by another one: the
// state is of this epoch, and quorums of both systems are known to have it. The error
// matches [failaware.ErrStateNotReady], or is [failaware.ErrClosed], [ErrInside] or the cause of
// ctx.
func (e *Engine) MayReplace(ctx context.Context, epoch uint64, next quorum.System) error {
	if e.Waited() {
		return ErrInside
	}
	answer := make(chan error, 1)
	ask := func(m *replica.Replica) {
		switch {
		case m.Epoch() == epoch && m.MayReplace(next):
			answer <- nil
		case m.Situation() != replica.Working:
			answer <- fmt.Errorf("%w: %v", failaware.ErrStateNotReady, m.Situation())
		default:
			answer <- fmt.Errorf("%w: nodes %v are known to have it, and a quorum of %v must, as one of the present system", failaware.ErrStateNotReady, m.Known(), next)
		}
	}
	select {
	case e.asks <- ask:
		return <-answer
	case <-e.over:
		return failaware.ErrClosed
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
