package engine

import (
	"sync"
	"sync/atomic"
	"time"
)

// gate lets many read the application, or one change it. Unlike a sync.RWMutex it lets
// readers nest: one that finds a waiting writer lets it pass first, unless it is within a
// reader, for which the writer waits. It may be so by way of another goroutine, which nobody
// can tell, so others are let in too, together and now and then. The distance is more than the
// longest reader has taken since the writer came: then all have left before the next come.
type gate struct {
	mu    sync.RWMutex
	wants atomic.Bool   // the writer waits
	left  chan struct{} // a reader has left while the writer waited
	mutex sync.Mutex
	freed chan struct{} // closed when the writer leaves, or nil
	// While the writer waits:
	since   time.Time     // when it came
	next    time.Time     // when readers are let in
	longest time.Duration // a reader that has left, from since on
}

// courtesy is the least time between two readers that pass a writer.
const courtesy = 10 * time.Millisecond

func newGate() *gate { return &gate{left: make(chan struct{}, 1)} }

// lock is for one goroutine at a time.
func (g *gate) lock() {
	if g.mu.TryLock() {
		return
	}
	g.mutex.Lock()
	now := time.Now()
	g.freed, g.since, g.next, g.longest = make(chan struct{}), now, now.Add(courtesy), 0
	g.mutex.Unlock()
	g.wants.Store(true)
	for !g.mu.TryLock() {
		<-g.left
	}
}

func (g *gate) unlock() {
	g.mu.Unlock()
	if g.wants.Swap(false) {
		g.mutex.Lock()
		close(g.freed)
		g.freed = nil
		g.mutex.Unlock()
	}
}

// tryRLock reports whether the caller may read at once.
func (g *gate) tryRLock() bool { return !g.wants.Load() && g.mu.TryRLock() }

// rLock waits until the caller may read, and returns when it may, or zero if it may at once.
// nested tells whether it is within a reader.
func (g *gate) rLock(nested func() bool) time.Time {
	if g.tryRLock() {
		return time.Time{}
	}
	g.mutex.Lock()
	freed, next := g.freed, g.next
	g.mutex.Unlock()
	if freed != nil && !nested() {
		timer := time.NewTimer(time.Until(next))
		defer timer.Stop()
		select {
		case <-freed:
		case <-timer.C:
			g.passed(next)
		}
	}
	g.mu.RLock()
	return time.Now()
}

// passed notes that the readers of a time pass the writer.
func (g *gate) passed(at time.Time) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if g.next.Equal(at) {
		g.next = time.Now().Add(max(courtesy, 2*g.longest))
	}
}

// rUnlock ends a read that began at an instant, or zero, before a writer came.
func (g *gate) rUnlock(began time.Time) {
	g.mu.RUnlock()
	if !g.wants.Load() {
		return
	}
	g.mutex.Lock()
	if began.Before(g.since) {
		began = g.since
	}
	g.longest = max(g.longest, time.Since(began))
	g.mutex.Unlock()
	signal(g.left)
}
