// Package commandqueue is the queue of commands from callers to a node's loop.
package commandqueue

import (
	"sync"
	"sync/atomic"
)

// Queue holds commands of type C. The zero value is an empty queue. The loop takes
// the mutex only when there are commands.
type Queue[C any] struct {
	pending atomic.Bool // there are commands

	mu       sync.Mutex
	commands []C
	closed   bool
}
