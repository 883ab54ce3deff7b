package engine

import (
	"sync"
	"sync/atomic"

	"github.com/failaware/failaware/internal/replica"
	"github.com/failaware/failaware/internal/seqlock"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// extent is what the state contains once the application has performed a number of calls,
// for readers, who take no lock.
type extent struct {
	numbers seqlock.Numbers
	last    replica.Extent // owned by the goroutine of the machine, as calls is
	calls   uint64         // that were ever made
	done    atomic.Uint64  // calls that were performed
	waiting atomic.Int32   // readers
	mu      sync.Mutex
	moved   chan struct{} // closed when there is news, or nil
}

// publish makes an extent known before the application gets the calls that lead to it: a
// reader that sees what they did sees the extent too.
func (x *extent) publish(e replica.Extent, calls int) {
	if e == x.last && calls == 0 {
		return
	}
	x.last, x.calls = e, x.calls+uint64(calls)
	x.numbers.Store(&[seqlock.Size]uint64{e.View.Sequence, uint64(e.View.Leader), uint64(e.View.Boot), e.Seen, e.Last, e.Sure, e.Whole, x.calls})
	x.wake()
}

// load returns the extent in a view, and the calls that lead to it. ok is false if there
// is none, or it is just changing.
func (x *extent) load(view membership.ViewID) (e replica.Extent, calls uint64, ok bool) {
	var n [seqlock.Size]uint64
	ok = x.numbers.Load(&n)
	e = replica.Extent{View: membership.ViewID{Sequence: n[0], Leader: timed.NodeID(n[1]), Boot: timed.BootID(n[2])},
		Seen: n[3], Last: n[4], Sure: n[5], Whole: n[6]}
	return e, n[7], ok && e.View == view && !view.None()
}

// performed notes the end of a call.
func (x *extent) performed() {
	x.done.Add(1)
	x.wake()
}

// news returns a channel that is closed when the extent or the number of performed calls
// changes.
func (x *extent) news() <-chan struct{} {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.moved == nil {
		x.moved = make(chan struct{})
	}
	return x.moved
}

// wake wakes the readers that wait.
func (x *extent) wake() {
	if x.waiting.Load() == 0 {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.moved != nil {
		close(x.moved)
		x.moved = nil
	}
}
