// Package commandqueue is the queue of commands from callers to a node's loop.
package commandqueue

import (
	"slices"
	"sync"
	"sync/atomic"
)

// Queue holds commands of type C. The zero value is an empty queue. The loop takes
// the mutex only when there are commands. It is as long as its callers are many, each of whom
// takes back what is not wanted any more: the loop may stand for hours.
type Queue[C comparable] struct {
	pending atomic.Bool // there are commands

	mu       sync.Mutex
	commands []C
	closed   bool
}

// Put adds a command, unless the queue is closed. That it reports true is no promise
// that the command will be taken: the queue may be closed before.
func (q *Queue[C]) Put(c C) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false
	}
	q.commands = append(q.commands, c)
	q.pending.Store(true)
	return true
}

// Has reports whether a command waits.
func (q *Queue[C]) Has(c C) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Contains(q.commands, c)
}

// Withdraw takes a command back, and reports whether it was still there.
func (q *Queue[C]) Withdraw(c C) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.commands, c)
	if i < 0 {
		return false
	}
	q.commands = slices.Delete(q.commands, i, i+1)
	q.pending.Store(len(q.commands) > 0)
	return true
}

// Pending reports whether there are commands. It takes no lock.
func (q *Queue[C]) Pending() bool { return q.pending.Load() }

// Take returns the commands that have come.
func (q *Queue[C]) Take() []C {
	if !q.pending.Load() {
		return nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	commands := q.commands
	q.commands = nil
	q.pending.Store(false)
	return commands
}

// Close drops the commands, and refuses others from now on.
func (q *Queue[C]) Close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed, q.commands = true, nil
}
