// Package engine runs a replica: it brings the deliveries of a node, an application,
// and the pure machine of package replica together.
//
// One goroutine calls the application. For each incarnation of the node, others run: one
// hands the stream of deliveries and the results of the application to the machine, and
// one broadcasts each queue of messages. [Engine.Run] starts them, one incarnation after the other. The
// application and the calls that wait for it pass from each to the next. What callers
// run is in callers.go.
package engine

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/keep"
	"github.com/failaware/failaware/internal/replica"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// Application is the state that is replicated: see [replicate.Application].
type Application interface {
	keep.Application
	Merge(branches []replica.Branch) error
}

// Hasher is an [Application] whose state can be hashed.
type Hasher interface{ Hash() uint64 }

// ErrMixed ends a node without a state among others that have one, and another Storage.
var ErrMixed = errors.New("replicate: the members that have the state have other settings")

// ErrInside refuses to wait for what waits for the caller.
var ErrInside = errors.New("replicate: called by the application or by OnEvent, and would wait for its own caller")

// ErrNoHasher is why a configuration with HashEvery is refused.
var ErrNoHasher = errors.New("HashEvery: the application has no method Hash")

// Item is one step of a member's stream: a view that begins, or a delivery.
type Item struct {
	View     *membership.View // nil for a delivery
	Base     []broadcast.Mark // of a view: how far each sender's messages had been ordered before
	Delivery broadcast.Delivery
}

// Incarnation is one of a node.
type Incarnation struct {
	Self timed.Incarnation
	// Quorum orders its messages; nil: they are ordered in all views. Epoch is what it
	// rules, if it may be replaced.
	Quorum quorum.System
	Epoch  uint64
}

// Group is a member's access to the broadcast.
type Group interface {
	// Begin waits for the first item of an incarnation, and returns that incarnation.
	Begin(context.Context) (Incarnation, error)
	// Next returns the next step, in order, or an error that matches
	// [ErrNextIncarnation] after the last one of the incarnation. Payloads are not
	// changed any more.
	Next(context.Context) (Item, error)
	// More returns the next step, as Next does, if that is at hand without a wait.
	More() (Item, bool)
	// Broadcast waits while the window is full. For lack of a quorum it returns
	// [broadcast.ErrNoQuorum].
	Broadcast(context.Context, []byte, broadcast.Options) error
}

// ErrNextIncarnation ends the stream of an incarnation that is followed by another.
var ErrNextIncarnation = errors.New("replicate: the incarnation is over")

// Engine runs the replica of a node over all incarnations of the process.
type Engine struct {
	cfg     replica.Config
	group   Group
	beside  func(broadcast.Delivery) // takes messages that are no operations, or nil
	event   func(Event)
	start   time.Time
	calls   *queue[call]    // of the application
	replays atomic.Int64    // operations of its calls ApplyAll that wait
	caller  atomic.Uint64   // the goroutine that calls the application
	calling atomic.Int64    // when the present call began, as now() says; 0: there is none
	events  chan struct{}   // has an element while event is called; no mutex, for tests in virtual time
	teller  atomic.Uint64   // the goroutine that calls it; 0: none does
	earlier replica.Earlier // the state that the last incarnation has left
	store   *Store          // nil if the state is in memory only
	held    []held          // verdicts that wait for the disks, owned by perform
	awaited int             // how many of them were awaited at the last look
	extent  extent          // of the state, for readers
	asks    chan func(*replica.Replica)
	over    chan struct{} // closed at the end of Run

	Outcomes Outcomes

	// appMu guards the application: its calls hold it, and readers share it.
	appMu    *gate
	app      Application
	restores uint64 // how often the state was replaced by that of others

	accepting atomic.Bool // what the status says: each operation asks

	mu      sync.Mutex
	status  Status
	changed chan struct{} // closed when the status changes in more than its progress
}

// Status is the status of a replica.
type Status struct {
	Situation replica.Situation
	View      membership.ViewID // that the situation is of
	Accepting bool              // operations may be broadcast
	Full      error             // why the disk has no room; then none may be
	Absent    timed.Set         // Recovering: nodes that may know more
	// Unreported are the members whose states this node has not heard yet; it is Reporting.
	Unreported timed.Set
	Unstored   timed.Set     // members whose disks hold up an operation
	Since      timed.Instant // when it began to wait for them
	// UnstoredFor is how long it has waited for them when [Engine.Status] is called.
	UnstoredFor time.Duration
	Waits       bool             // this node waits for state
	Progress    replica.Progress // of the state that it waits for
	Calls       uint64           // of the application that lead to the state of the view
}

// New returns an engine for a valid configuration and an application in its initial
// state, or in that of a store, which the engine closes at the end of Run. beside, if not
// nil, is called with messages that are no operations, between two calls of the
// application. event, if not nil, is called with all events, one at a time; it must not
// block. The error is [ErrNoHasher].
func New(cfg replica.Config, group Group, app Application, store *Store, beside func(broadcast.Delivery), event func(Event)) (*Engine, error) {
	if _, ok := app.(Hasher); cfg.HashEvery > 0 && !ok {
		return nil, ErrNoHasher
	}
	cfg = cfg.WithDefaults()
	cfg.Stored = store != nil
	e := &Engine{cfg: cfg, group: group, app: app, start: time.Now(), appMu: newGate(), calls: newQueue(cfg.MaxQueued, (*call).weight),
		earlier: store.Earlier(), store: store, changed: make(chan struct{}), asks: make(chan func(*replica.Replica)), over: make(chan struct{}), event: event, events: make(chan struct{}, 1), beside: beside}
	if store != nil {
		store.saver.of = e
	}
	return e, nil
}

// UnclosedError says why a store could not be closed.
type UnclosedError struct{ err error }

func (e *UnclosedError) Error() string { return "replicate: Storage: " + e.err.Error() }

func (e *UnclosedError) Unwrap() error { return e.err }

// Run runs the replica until ctx ends, or the stream, the broadcast or the
// application fails. The node must not go on without it. If Run is ended from outside and the store
// cannot be closed, the error is an [*UnclosedError].
func (e *Engine) Run(ctx context.Context) error {
	defer close(e.over)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	wg.Go(func() { cancel(e.perform(ctx)) })
	wg.Go(func() { e.watch(ctx) })
	wg.Go(func() { cancel(e.store.watch(ctx)) })
	cancel(e.follow(ctx)) // the first to fail ends the other
	wg.Wait()
	why := context.Cause(ctx)
	asked := errors.Is(why, failaware.ErrClosed) || errors.Is(why, context.Canceled)
	if err := e.store.Close(); err != nil && asked {
		return &UnclosedError{err}
	}
	return why
}

// follow runs one incarnation after the other.
func (e *Engine) follow(ctx context.Context) error {
	defer e.setStatus(Status{})
	for {
		self, err := e.group.Begin(ctx)
		if err != nil {
			return err
		}
		inc := newIncarnation(e, self)
		e.setStatus(Status{})
		if err = inc.run(ctx); !errors.Is(err, ErrNextIncarnation) {
			return err
		}
		e.earlier = inc.end()
		e.setStatus(Status{})
	}
}

// setStatus makes a status the current one, and wakes callers that wait for another.
func (e *Engine) setStatus(s Status) {
	e.mu.Lock()
	defer e.mu.Unlock()
	before, now := e.status, s
	for _, x := range []*Status{&before, &now} {
		x.Progress, x.Waits, x.Unreported, x.Unstored, x.Since = replica.Progress{}, false, timed.Set{}, timed.Set{}, 0
	}
	e.status = s
	e.accepting.Store(s.Accepting)
	if now != before {
		close(e.changed)
		e.changed = make(chan struct{})
	}
}

// now is a clock that only the machine's rates and time limits depend on.
func (e *Engine) now() timed.Instant { return timed.Instant(time.Since(e.start)) }
