package engine

import (
	"sync"
	"sync/atomic"
	"time"
)

// gate lets many read the application, or one change it. Unlike a sync.RWMutex it lets
// readers nest: one that finds a waiting writer lets it pass first, unless it is within a
// reader, for which the writer waits. It may be so by way of another goroutine, which nobody
// can tell, so others are let in too, but ever more rarely: together, at times after the writer
// came whose distance doubles. Once that is longer than the longest read, all readers have left.
type gate struct {
	mu    sync.RWMutex
	wants atomic.Bool   // the writer waits
	left  chan struct{} // a reader has left while the writer waited
	mutex sync.Mutex
	freed chan struct{} // closed when the writer leaves, or nil
	since time.Time     // when the writer came
}

// courtesy is how long readers let a writer pass at first.
const courtesy = 10 * time.Millisecond

// untilNext returns when readers are let in next, after the writer has waited for a time.
func untilNext(waited time.Duration) time.Duration {
	next, step := courtesy, courtesy
	for next <= waited {
		step *= 2
		next += step
	}
	return next - waited
}

func newGate() *gate { return &gate{left: make(chan struct{}, 1)} }

// lock is for one goroutine at a time.
func (g *gate) lock() {
	if g.mu.TryLock() {
		return
	}
	g.mutex.Lock()
	g.freed, g.since = make(chan struct{}), time.Now()
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

// rLock waits until the caller may read. nested tells whether it is within a reader.
func (g *gate) rLock(nested func() bool) {
	if g.tryRLock() {
		return
	}
	g.mutex.Lock()
	freed, since := g.freed, g.since
	g.mutex.Unlock()
	if freed != nil && !nested() {
		timer := time.NewTimer(untilNext(time.Since(since)))
		defer timer.Stop()
		select {
		case <-freed:
		case <-timer.C:
		}
	}
	g.mu.RLock()
}

func (g *gate) rUnlock() {
	g.mu.RUnlock()
	if g.wants.Load() {
		signal(g.left)
	}
}
