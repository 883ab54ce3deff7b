// Package eventring keeps the latest events of a node for any number of consumers. One
// goroutine at a time adds events and never waits. Consumers follow at their own pace,
// and learn from the sequence numbers how many events they have missed.
package eventring

import "sync/atomic"

// Ring keeps the latest events of type E, which are numbered from 1. Make one with
// [New].
type Ring[E any] struct {
	records []atomic.Pointer[record[E]]
	last    atomic.Uint64                 // sequence of the latest event
	next    atomic.Pointer[chan struct{}] // closed at the next event; nil while no consumer waits
	closed  chan struct{}
}

type record[E any] struct {
	sequence uint64
	event    E
}

// New returns a ring that keeps size events.
func New[E any](size int) *Ring[E] {
	return &Ring[E]{records: make([]atomic.Pointer[record[E]], size), closed: make(chan struct{})}
}

// Last returns the sequence number of the latest event.
func (r *Ring[E]) Last() uint64 { return r.last.Load() }
