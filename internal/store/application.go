package store

import (
	"io"
	"sync"
	"sync/atomic"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/kv"
	"github.com/failaware/failaware/replicate"
)

// application is a state as package replicate calls it.
type application struct {
	state   *kv.State
	bell    bell
	applied atomic.Uint64

	clock func() failaware.Reading
	keep  func(api.Operation) // takes the instants of operations; nil unless they are traced
}

// Apply implements [replicate.Application].
func (a *application) Apply(op replicate.Operation) any {
	if a.keep != nil {
		defer a.trace(op, a.clock())
	}
	r := a.state.Apply(op.Command)
	a.applied.Add(1)
	a.bell.ring()
	return r
}

// trace keeps the instants of an operation. There are none without group time, as long as
// a node that starts again applies what its disk has.
func (a *application) trace(op replicate.Operation, ordered failaware.Reading) {
	applied := a.clock()
	if c, err := kv.Decode(op.Command); err == nil && kv.Tells(&ordered) && kv.Tells(&applied) {
		a.keep(traced(op, c.At, ordered, applied))
	}
}

// traced returns what is kept of an operation.
func traced(op replicate.Operation, submitted, ordered, applied failaware.Reading) api.Operation {
	return api.Operation{ID: op.ID, Submitted: submitted, Sent: op.Stamp, Deviation: op.Deviation, Ordered: ordered, Applied: applied}
}

// Recognize implements [replicate.Recognizer].
func (a *application) Recognize(command []byte) uint64 { return kv.Recognize(command) }

// Snapshot implements [replicate.Application].
func (a *application) Snapshot(w io.Writer) error { return a.state.Snapshot(w) }

// Restore implements [replicate.Application].
func (a *application) Restore(r io.Reader) error {
	defer a.bell.ring()
	return a.state.Restore(r)
}

// Merge implements [replicate.Merger].
func (a *application) Merge(branches []replicate.Branch) error {
	defer a.bell.ring()
	var list []*kv.State
	for _, b := range branches {
		s := kv.New(a.state.Kind())
		if err := s.Restore(b.State); err != nil {
			return err
		}
		list = append(list, s)
	}
	a.state.Merge(list)
	return nil
}

// Hash implements [replicate.Hasher].
func (a *application) Hash() uint64 { return a.state.Hash() }

// bell wakes all who wait for a change. It costs little while nobody waits.
type bell struct {
	mu   sync.Mutex
	next chan struct{} // nil while nobody waits
}

// wait returns a channel that is closed at the next ring.
func (b *bell) wait() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.next == nil {
		b.next = make(chan struct{})
	}
	return b.next
}

func (b *bell) ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.next != nil {
		close(b.next)
		b.next = nil
	}
}
