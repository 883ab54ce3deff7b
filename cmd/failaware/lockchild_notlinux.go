//go:build !linux

package main

// collect waits until the command has ended, and kills what is left of its group.
// The id could be another group's by then, but only if the system has gone through
// all of its ids within microseconds.
func (c *child) collect() {
	_ = c.cmd.Wait() // the state says more
	c.mu.Lock()
	defer c.mu.Unlock()
	killGroup(c.cmd.Process)
	c.gone = true
}
