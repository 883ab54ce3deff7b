package failaware

import (
	"sync"
	"sync/atomic"
)

// desk is where other goroutines leave commands for the loop. The loop takes
// the lock only when there are some.
type desk struct {
	some   atomic.Bool
	mu     sync.Mutex
	queue  []func(*driver)
	closed bool
}

// do has the loop call f in its next turn; false says that the loop has ended.
// A true is no promise that f will be called: the loop may end first.
func (n *Node) do(f func(*driver)) bool {
	d := &n.desk
	d.mu.Lock()
	if d.closed {
		d.mu.Unlock()
		return false
	}
	d.queue = append(d.queue, f)
	d.some.Store(true)
	d.mu.Unlock()
	n.conn.Wake()
	return true
}

// take returns the commands that have come.
func (d *desk) take() []func(*driver) {
	if !d.some.Load() {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	q := d.queue
	d.queue = nil
	d.some.Store(false)
	return q
}

// close refuses commands from now on.
func (d *desk) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed, d.queue = true, nil
}
