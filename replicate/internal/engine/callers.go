package engine

import (
	"time"

	"github.com/failaware/failaware/timed"
)

// longFlush is how long a disk may take for an operation before it holds it up.
const longFlush = time.Second

// Accepting reports whether operations may be broadcast.
func (e *Engine) Accepting() bool { return e.accepting.Load() }

// Status returns the status of the replica, and a channel that is closed when it
// changes, its progress and its disks aside. Between two incarnations the status is zero.
func (e *Engine) Status() (Status, <-chan struct{}) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.status
	if !s.Unstored.Empty() { // each Submit comes here: no needless look at the clock
		s.UnstoredFor = e.now().Sub(s.Since)
	}
	if s.UnstoredFor < longFlush {
		s.Unstored, s.UnstoredFor = timed.Set{}, 0
	}
	return s, e.changed
}

// Has reports whether the application has been given the state of the view of a status.
// Before, the machine has the state and the application has that of an earlier view.
func (e *Engine) Has(s *Status) bool { return e.extent.done.Load() >= s.Calls }

// Behind returns how many calls of the application wait for those before them.
func (e *Engine) Behind() int { return e.calls.len() + int(e.replays.Load()) }

// Read calls f while the application is not being changed, except by a call of the
// application that calls Read. Reads go on at the same time, and may nest.
//
//go:noinline
func (e *Engine) Read(f func()) {
	var began time.Time
	if !e.appMu.tryRLock() {
		if e.Inside() {
			f()
			return
		}
		began = e.appMu.rLock(readsTwice)
	}
	defer e.appMu.rUnlock(began)
	f()
}
