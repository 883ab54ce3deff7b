package replicate

import (
	"cmp"
	"context"
	"errors"

	"github.com/hashicorp/go-hclog"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/replicate/internal/engine"
)

// begin runs the replica until it is closed.
func (r *Replica) begin(stream *engine.Stream) {
	ctx, cancel := context.WithCancel(context.Background())
	r.cancel = cancel
	go r.run(ctx, stream)
}

// run is the replica's goroutine: it runs the engine, and then ends the node.
func (r *Replica) run(ctx context.Context, stream *engine.Stream) {
	defer close(r.done)
	err := r.engine.Run(ctx)
	// This comes before the end of the node: a caller that waits for that may call Close,
	// which ends ctx.
	r.err, r.unclosed = outcome(err, ctx.Err() != nil)
	if err := cmp.Or(r.err, r.unclosed); err != nil && r.log != nil {
		r.log(hclog.Error, "the replicated state has stopped, and the node with it", "error", err)
	}
	_ = r.node.Close()
	r.engine.Outcomes.End()
	stream.Release()
}

// outcome returns why a replica has stopped by itself, and why its Storage could not be closed. The
// error is that of its engine, and closed says that [Replica.Close] was called.
func outcome(err error, closed bool) (itself, unclosed error) {
	if e, ok := errors.AsType[*engine.UnclosedError](err); ok {
		unclosed = e
	}
	if !closed && !errors.Is(err, failaware.ErrClosed) {
		itself = err
	}
	return itself, unclosed
}
