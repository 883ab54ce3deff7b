// Package pause stops the loop of a node like a SIGSTOP, and ends it like a SIGKILL,
// although the node shares its process with others. It is for the demonstration and for
// tests: only they give a node a gate, through the context that it starts with.
package pause

import (
	"context"
	"sync"
)

// Gate is passed by a loop at the start of each turn. It starts open, and a nil *Gate
// is always open. All methods are safe for concurrent use.
type Gate struct {
	mu    sync.Mutex
	moved sync.Cond
	state state
	held  bool // the loop waits at the gate
}

type state uint8

const (
	open state = iota
	shut
	killed
)

// New returns an open gate.
func New() *Gate {
	g := new(Gate)
	g.moved.L = &g.mu
	return g
}

// Pass returns when the gate is open, or false if the loop must end at once, without a
// last packet.
func (g *Gate) Pass() bool {
	if g == nil {
		return true
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.state == shut {
		g.held = true
		g.moved.Broadcast()
		g.moved.Wait()
	}
	g.held = false
	return g.state != killed
}

// Shut stops the loop. It returns when the loop waits, or when stopped is closed,
// because the loop has ended.
func (g *Gate) Shut(stopped <-chan struct{}) {
	g.set(shut)
	done := make(chan struct{})
	defer close(done)
	go func() {
		select {
		case <-stopped:
			g.Kill()
		case <-done:
		}
	}()
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.state == shut && !g.held {
		g.moved.Wait()
	}
}

// Open lets the loop continue.
func (g *Gate) Open() { g.set(open) }

// Kill ends the loop permanently.
func (g *Gate) Kill() { g.set(killed) }

func (g *Gate) set(s state) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.state != killed {
		g.state = s
	}
	g.moved.Broadcast()
}

type key struct{}

// With returns a context that gives a gate to the node that starts with it.
func With(ctx context.Context, g *Gate) context.Context { return context.WithValue(ctx, key{}, g) }

// From returns the gate of a context, or nil.
func From(ctx context.Context) *Gate {
	g, _ := ctx.Value(key{}).(*Gate)
	return g
}
