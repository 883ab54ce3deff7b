package engine

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/failaware/failaware/broadcast"
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
	state  *replica.Content
	hash   uint64
	err    error
}

// perform calls the application, and resolves the outcomes of own operations and
// barriers at their places among the calls.
//
//go:noinline
func (e *Engine) perform(ctx context.Context) error {
	e.caller.Store(goroutine())
	for {
		c, err := e.calls.take(ctx)
		if err != nil {
			return err
		}
		if err := e.call(ctx, c); err != nil {
			return err
		}
		e.extent.performed()
	}
}

// call performs one call.
func (e *Engine) call(ctx context.Context, c *call) error {
	if done, err := e.change(ctx, c); done || err != nil {
		return err
	}
	res := result{effect: c.Effect}
	switch c.Kind {
	case replica.Snapshot:
		res.state, res.err = e.snapshot()
	case replica.Hash:
		e.enter()
		res.hash = e.app.(Hasher).Hash()
		e.leave()
	}
	select {
	case c.of.results <- res:
	case <-c.of.over: // nobody needs it any more
		if res.state != nil {
			res.state.Discard()
		}
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// change performs a call that has no result for the machine. It reports whether the
// call is one.
func (e *Engine) change(ctx context.Context, c *call) (done bool, err error) {
	switch c.Kind {
	case replica.Apply:
		return true, e.apply(ctx, c)
	case replica.ApplyAll:
		return true, e.applyAll(ctx, c)
	case replica.Skip:
		v := Verdict{Message: withoutPayload(&c.Delivery), Unknown: NotAppliedHere}
		e.Outcomes.resolve(&v)
	case replica.Beside:
		if e.beside != nil {
			e.enter()
			e.beside(c.Delivery)
			e.leave()
		}
	case replica.Barrier:
		e.settle(c, nil)
	case replica.Restore:
		e.store.dislocate()
		if err := e.restore(c.State); err != nil {
			return true, fmt.Errorf("replicate: Restore: %w", err)
		}
		c.State.Discard()
	case replica.Merge:
		e.store.dislocate()
		if err := e.merge(c.Branches); err != nil {
			return true, fmt.Errorf("replicate: Merge: %w", err)
		}
		for _, b := range c.Branches {
			if b.State.Received { // own snapshots may still be on the way to others
				b.State.Discard()
			}
		}
	case replica.Locate:
		if c.Place == nil {
			e.store.dislocate()
			return true, nil
		}
		return true, e.store.locate(ctx, c.Place)
	case replica.Lasts:
		e.release(c)
	case replica.Withdraw:
		return true, withdrawal(c.Event)
	default:
		return false, nil
	}
	return true, nil
}

// withdrawal returns the error with which a node ends for a reason.
func withdrawal(e *replica.Event) error {
	switch e.Kind {
	case replica.EventDisk:
		return e.Err
	case replica.EventTooLarge:
		return fmt.Errorf("%w: that of node %v has %d bytes, and this node takes no more than %d", replica.ErrSnapshotTooLarge, e.Member, e.Total, e.Bytes)
	}
	return fmt.Errorf("%w: %s is %s here and %s at node %v", ErrMixed, e.Setting, e.Here, e.There, e.Member)
}

// apply applies an operation. Its record is on the way to the disk meanwhile.
func (e *Engine) apply(ctx context.Context, c *call) error {
	if err := e.store.apply(ctx, &c.Delivery, c.At); err != nil {
		return err
	}
	e.enter()
	e.appMu.lock()
	result := e.app.Apply(c.Delivery)
	e.appMu.unlock()
	e.leave()
	if m := &c.Delivery; m.Sender == c.of.self.Node && m.Boot == c.of.self.Boot {
		e.settle(c, result)
	}
	return e.store.compact(ctx)
}

// applyAll applies operations that have waited for a state.
func (e *Engine) applyAll(ctx context.Context, c *call) error {
	for effect, err := range c.Replay.Effects() {
		if err = errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		if effect.Kind == replica.Apply {
			e.replays.Add(-1)
		}
		if err := e.call(ctx, &call{effect, c.of}); err != nil {
			return err
		}
	}
	return nil
}

// held is a verdict that is given once disks have what it is about.
type held struct {
	at replica.Point
	Verdict
}

// settle gives the verdict on an own operation or barrier, or holds it until it lasts.
func (e *Engine) settle(c *call, result any) {
	m := withoutPayload(&c.Delivery)
	v := Verdict{Message: m, Result: result, Lasting: c.Lasting, Restores: e.restores}
	if e.Outcomes.placed(m.ID) {
		e.enter()
		e.Outcomes.reach(&v)
		e.leave()
	}
	if e.store == nil || v.Lasting || m.Transitional || m.Atomicity != broadcast.StrictAtomicity {
		e.Outcomes.resolve(&v)
		return
	}
	e.hold(held{c.At, v})
}

func withoutPayload(m *broadcast.Delivery) broadcast.Delivery {
	d := *m
	d.Payload = nil
	return d
}

// leastHeld is how many verdicts are held before it is looked who waits for them.
const leastHeld = 256

// hold keeps a verdict until it is known whether it lasts. That may take for ever, as when a
// member's disk has no room, and callers give up: when the verdicts have doubled since the last
// look, those that nobody waits for are dropped.
func (e *Engine) hold(h held) {
	if len(e.held) >= max(leastHeld, 2*e.awaited) {
		e.held = e.Outcomes.awaited(e.held)
		e.awaited = len(e.held)
	}
	e.held = append(e.held, h)
}

// release gives the held verdicts up to c.At, or all if c is not Lasting: nothing more will be said
// then.
func (e *Engine) release(c *call) {
	k := 0
	for k < len(e.held) && (!c.Lasting || e.held[k].at.View == c.At.View && e.held[k].at.Position <= c.At.Position) {
		h := &e.held[k]
		h.Lasting = c.Lasting
		e.Outcomes.resolve(&h.Verdict)
		k++
	}
	e.held = slices.Delete(e.held, 0, k)
}

// snapshot returns the state of the application. After an error, nothing of it takes room.
func (e *Engine) snapshot() (*replica.Content, error) {
	c := e.cfg.NewContent()
	w := &limited{most: e.cfg.MaxSnapshot, w: bufio.NewWriterSize(c, writerBytes)}
	e.enter()
	err := e.app.Save(w)
	e.leave()
	switch {
	case w.err != nil:
		err = w.err // the application need not pass on why it could not write
	case err == nil:
		err = w.w.Flush()
	}
	if err != nil {
		c.Discard() // it may be as large as MaxSnapshot, and is tried again
		return nil, err
	}
	return c, nil
}

// writerBytes is the size of the writes of a snapshot.
const writerBytes = 64 << 10

// limited is a snapshot that takes no more than most bytes.
type limited struct {
	w    *bufio.Writer
	most int
	err  error
}

// Write implements [io.Writer].
func (l *limited) Write(p []byte) (n int, err error) {
	if l.err != nil {
		return 0, l.err
	}
	if len(p) > l.most {
		l.err = replica.ErrSnapshotTooLarge
		return 0, l.err
	}
	l.most -= len(p)
	n, l.err = l.w.Write(p)
	return n, l.err
}

func (e *Engine) restore(state *replica.Content) error {
	e.enter()
	defer e.leave()
	e.appMu.lock()
	defer e.appMu.unlock()
	e.restores++
	r := state.Reader()
	if err := e.app.Load(r); err != nil {
		return err
	}
	return r.Err() // the application need not pass on why it could not read
}

func (e *Engine) merge(branches []replica.Branch) error {
	e.enter()
	defer e.leave()
	e.appMu.lock()
	defer e.appMu.unlock()
	return e.app.Merge(branches)
}
