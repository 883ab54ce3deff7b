package engine

import (
	"sync"
	"sync/atomic"
	"time"
)

// gate lets many read the application, or one change it. Unlike a sync.RWMutex it lets
// readers nest: while others read, one that finds a waiting writer lets it pass first, but
// only for a moment, since it may be the reason why the writer waits.
type gate struct {
	mu    sync.RWMutex
	wants atomic.Bool   // the writer waits
	left  chan struct{} // a reader has left while the writer waited
	mutex sync.Mutex
	freed chan struct{} // closed when the writer leaves, or nil
}

// courtesy is how long a reader lets a writer pass.
const courtesy = 10 * time.Millisecond

func newGate() *gate { return &gate{left: make(chan struct{}, 1)} }

// lock is for one goroutine at a time.
func (g *gate) lock() {
	if g.mu.TryLock() {
		return
	}
	g.mutex.Lock()
	g.freed = make(chan struct{})
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

func (g *gate) rLock() {
	if g.tryRLock() {
		return
	}
	g.mutex.Lock()
	freed := g.freed
	g.mutex.Unlock()
	if freed != nil {
		timer := time.NewTimer(courtesy)
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
