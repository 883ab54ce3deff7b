package engine

import (
	"context"
	"fmt"

	"github.com/failaware/failaware/internal/replica"
)

// call is a call of the application, with the incarnation whose machine has made it.
type call struct {
	replica.Effect
	of *incarnation
}

// weight is what a call counts of the bytes that may wait for the application.
func (c *call) weight() int { return len(c.Delivery.Payload) + replica.PerDelivery }

// result is the result of a call of the application.
type result struct {
	effect replica.Effect
	state  []byte
	digest replica.Digest
	hash   uint64
	err    error
}

// perform calls the application, and resolves the outcomes of own operations and
// barriers at their places among the calls.
func (e *Engine) perform(ctx context.Context) error {
	e.caller.Store(goroutine())
	for {
		c, err := e.calls.take(ctx)
		if err != nil {
			return err
		}
		e.calling.Store(int64(e.now()) + 1)
		if err := e.call(ctx, &c); err != nil {
			return err
		}
		e.calling.Store(0)
	}
}

// call performs one call.
func (e *Engine) call(ctx context.Context, c *call) error {
	res := result{effect: c.Effect}
	switch c.Kind {
	case replica.Apply:
		e.apply(c)
		return nil
	case replica.Skip:
		e.Outcomes.resolve(&c.Delivery, Verdict{Unknown: NotAppliedHere})
		return nil
	case replica.Beside:
		if e.beside != nil {
			e.beside(c.Delivery)
		}
		return nil
	case replica.Barrier:
		e.Outcomes.resolve(&c.Delivery, Verdict{Lasting: c.Lasting, Restores: e.restores})
		return nil
	case replica.Restore:
		if err := e.restore(c.State); err != nil {
			return fmt.Errorf("replicate: Restore: %w", err)
		}
		return nil
	case replica.Merge:
		if err := e.merge(c.Branches); err != nil {
			return fmt.Errorf("replicate: Merge: %w", err)
		}
		return nil
	case replica.Snapshot:
		if res.state, res.err = e.app.Snapshot(); res.err == nil {
			res.digest = replica.DigestOf(res.state)
		}
	case replica.Hash:
		res.hash = e.app.(Hasher).Hash()
	}
	select {
	case c.of.results <- res:
	case <-c.of.over: // nobody needs it any more
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// apply applies an operation.
func (e *Engine) apply(c *call) {
	e.appMu.lock()
	result := e.app.Apply(c.Delivery)
	e.appMu.unlock()
	if m := &c.Delivery; m.Sender == c.of.self.Node && m.Boot == c.of.self.Boot {
		e.Outcomes.resolve(m, Verdict{Result: result, Lasting: c.Lasting, Restores: e.restores})
	}
}

func (e *Engine) restore(state []byte) error {
	e.appMu.lock()
	defer e.appMu.unlock()
	e.restores++
	return e.app.Restore(state)
}

func (e *Engine) merge(branches []replica.Branch) error {
	e.appMu.lock()
	defer e.appMu.unlock()
	return e.app.Merge(branches)
}
