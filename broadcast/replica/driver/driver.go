// Package driver runs a replica: it brings a stream of deliveries and views, an
// application, and the pure machine of package replica together.
package driver

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/broadcast/replica"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// Application is the state that is replicated. Its methods are called one after
// the other. docs/replication.md says what each must do.
type Application interface {
	// Apply changes the state by one operation. The payload may be kept.
	Apply(op broadcast.Delivery)
	// Snapshot writes the state down. An error lets another member do it. The bytes
	// must not be changed any more.
	Snapshot() ([]byte, error)
	// Restore replaces the state. An error ends this node's part.
	Restore(state []byte) error
	// Merge replaces the state by what becomes of the branches, which are the same
	// at all members, in the same order. An error ends this node's part.
	Merge(branches []replica.Branch) error
}

// Hasher is an [Application] whose state can be hashed, for Config.HashEvery.
type Hasher interface{ Hash() uint64 }

// Watcher is an [Application] that is told what becomes of this node's own
// operations and barriers, in order with the calls of the application.
type Watcher interface {
	// Applied: the call of Apply before was of an own operation. For lasting, see
	// [replica.Effect].
	Applied(op broadcast.Delivery, lasting bool)
	// Skipped: Apply will not be called with an own operation, or a barrier came when
	// this node did not have the state. What is known of the payload is nothing.
	Skipped(op broadcast.Delivery)
	// Passed: all that stands before an own barrier was applied, and nothing else.
	Passed(barrier broadcast.Delivery, lasting bool)
}

// Item is one step of the stream of a member: a view that begins, or one of its
// deliveries.
type Item struct {
	View     *membership.View // nil for a delivery
	Delivery broadcast.Delivery
}

// Group is a member's access to the broadcast.
type Group interface {
	// Next returns the next step, in order. Payloads are not changed any more.
	Next(context.Context) (Item, error)
	// Broadcast waits while the window is full. For want of a quorum it returns
	// [broadcast.ErrNoQuorum].
	Broadcast(context.Context, []byte, broadcast.Options) error
	// Now reads the hardware clock.
	Now() timed.Instant
}

// maxCalls is how many calls of the application may wait before no more is taken
// from the stream, so that the broadcast learns of a slow application.
const maxCalls = 1024

// ErrNoHasher is why a configuration with HashEvery is refused.
var ErrNoHasher = errors.New("replica: HashEvery: the application has no method Hash")

// Driver runs one replica. Its methods may be called by any goroutine.
type Driver struct {
	group Group
	app   Application
	event func(replica.Event)
	self  timed.Incarnation
	r     *replica.Replica // of the loop alone

	calls   line // for the application
	sends   line // for the broadcast
	results chan result

	mu      sync.Mutex
	status  Status
	changed chan struct{} // closed when the status changes in more than its progress
}

// Status is what a driver is about.
type Status struct {
	Situation replica.Situation
	View      membership.ViewID // that the situation is of
	Accepting bool              // operations may be broadcast
	Waits     bool              // this node waits for state
	Progress  replica.Progress  // of the state that it waits for
}

// result is what a call of the application returned.
type result struct {
	effect replica.Effect
	state  []byte
	digest replica.Digest
	hash   uint64
	err    error
}

// New returns a driver of an application in its initial state. event, if not nil,
// is told what happens, from the goroutine of Run; it must not wait.
func New(cfg replica.Config, group Group, app Application, event func(replica.Event)) (*Driver, error) {
	if _, ok := app.(Hasher); cfg.HashEvery > 0 && !ok {
		return nil, ErrNoHasher
	}
	if event == nil {
		event = func(replica.Event) {}
	}
	return &Driver{group: group, app: app, event: event, self: cfg.Self, r: replica.New(cfg), calls: newLine(), sends: newLine(),
		results: make(chan result), changed: make(chan struct{})}, nil
}

// Submit broadcasts an operation, once operations are accepted. It returns when
// the broadcast has taken it. The order must be Total or Timed.
func (d *Driver) Submit(ctx context.Context, op []byte, opt broadcast.Options) error {
	if opt.Order.Class() != broadcast.ClassOrdered {
		return fmt.Errorf("replica: an operation needs an order, and %v is none", opt.Order)
	}
	for {
		status, changed := d.Status()
		if status.Accepting {
			return d.group.Broadcast(ctx, replica.AppendOp(make([]byte, 0, len(op)+1), op), opt)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Status returns what the driver is about, and a channel that is closed when that
// is another than now, its progress aside.
func (d *Driver) Status() (Status, <-chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.status, d.changed
}

// Behind returns how many calls of the application wait for those before them.
func (d *Driver) Behind() int { return d.calls.len() }

// Run runs the replica until the context ends, or the stream, the broadcast or the
// application fails. The incarnation must not go on without it.
func (d *Driver) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	items := make(chan Item)
	for _, f := range []func(context.Context) error{
		func(ctx context.Context) error { return d.read(ctx, items) }, d.perform, d.send,
	} {
		wg.Go(func() { cancel(f(ctx)) }) // the first to fail ends the others
	}
	d.loop(ctx, items)
	wg.Wait()
	return context.Cause(ctx)
}

// read takes the stream.
func (d *Driver) read(ctx context.Context, items chan<- Item) error {
	for {
		it, err := d.group.Next(ctx)
		if err != nil {
			return err
		}
		select {
		case items <- it:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// loop hands everything to the machine.
func (d *Driver) loop(ctx context.Context, items <-chan Item) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		in := items
		if d.calls.len() >= maxCalls {
			in = nil // taken again after a call is done
		}
		var out []replica.Effect
		select {
		case <-ctx.Done():
			return
		case it := <-in:
			if it.View != nil {
				d.r.SetLoad(uint64(d.calls.len())) // a snapshot would have to wait for these
				out = d.r.HandleInstalled(d.group.Now(), it.View, nil)
			} else {
				out = d.r.HandleDelivery(d.group.Now(), it.Delivery, nil)
			}
		case res := <-d.results:
			switch res.effect.Kind {
			case replica.Snapshot:
				out = d.r.HandleSnapshot(d.group.Now(), res.effect.Name, res.state, res.digest, res.err, nil)
			case replica.Hash:
				out = d.r.HandleHash(d.group.Now(), res.effect.At, res.hash, nil)
			}
		case <-d.calls.drained:
		case <-timer.C:
			out = d.r.HandleTimeout(d.group.Now(), nil)
		}
		d.distribute(out)
		if due := d.r.Deadline(); due != timed.Never {
			timer.Reset(max(0, due.Sub(d.group.Now())))
		}
	}
}

// distribute gives each effect to who performs it.
func (d *Driver) distribute(out []replica.Effect) {
	for _, e := range out {
		switch e.Kind {
		case replica.Broadcast:
			d.sends.put(e)
		case replica.Notify:
			d.event(e.Event)
		default:
			d.calls.put(e)
		}
	}
	now := Status{Situation: d.r.Situation(), View: d.r.View(), Accepting: d.r.Accepting()}
	progress, waits := d.r.Progress()
	d.mu.Lock()
	defer d.mu.Unlock()
	before := d.status
	before.Progress, before.Waits = replica.Progress{}, false
	d.status = now
	d.status.Progress, d.status.Waits = progress, waits
	if now != before {
		close(d.changed)
		d.changed = make(chan struct{})
	}
}

// send broadcasts what the machine says, in its order.
func (d *Driver) send(ctx context.Context) error {
	for {
		e, err := d.sends.take(ctx)
		if err != nil {
			return err
		}
		err = d.group.Broadcast(ctx, e.Payload, e.Options)
		if err != nil && !errors.Is(err, broadcast.ErrNoQuorum) {
			return err
		}
	}
}

// perform calls the application.
func (d *Driver) perform(ctx context.Context) error {
	watcher, _ := d.app.(Watcher)
	for {
		e, err := d.calls.take(ctx)
		if err != nil {
			return err
		}
		res := result{effect: e}
		switch e.Kind {
		case replica.Apply:
			d.app.Apply(e.Delivery)
			if watcher != nil && d.own(&e.Delivery) {
				watcher.Applied(e.Delivery, e.Lasting)
			}
			continue
		case replica.Skip:
			if watcher != nil {
				watcher.Skipped(e.Delivery)
			}
			continue
		case replica.Barrier:
			if watcher != nil {
				watcher.Passed(e.Delivery, e.Lasting)
			}
			continue
		case replica.Restore:
			if err := d.app.Restore(e.State); err != nil {
				return fmt.Errorf("replica: Restore: %w", err)
			}
			continue
		case replica.Merge:
			if err := d.app.Merge(e.Branches); err != nil {
				return fmt.Errorf("replica: Merge: %w", err)
			}
			continue
		case replica.Snapshot:
			if res.state, res.err = d.app.Snapshot(); res.err == nil {
				res.digest = replica.DigestOf(res.state)
			}
		case replica.Hash:
			res.hash = d.app.(Hasher).Hash()
		}
		select {
		case d.results <- res:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// own reports whether a delivery is of this incarnation.
func (d *Driver) own(m *broadcast.Delivery) bool {
	return m.Sender == d.self.Node && m.Boot == d.self.Boot
}
