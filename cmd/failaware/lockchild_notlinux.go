//go:build !linux

package main

// adopt does nothing: descendants that leave the group are not found.
func adopt() ([]int, error) { return nil, nil }

// cgroup stands for the control groups of Linux: there are none.
type cgroup string

func newCgroup() cgroup { return "" }
func (cgroup) join()    {}
func (cgroup) kill()    {}
func (cgroup) remove()  {}

// collect waits until the command ends, and kills the rest of its group. Another
// group has the id by then only if the system used up all ids within microseconds.
func (c *child) collect() {
	_ = c.cmd.Wait() // the state says more
	c.mu.Lock()
	defer c.mu.Unlock()
	c.died(func() bool {
		_ = killGroup(c.cmd.Process) // an error may be that of processes that have ended
		return true                  // unknown here, so assume that there was one
	})
	c.gone = true
}
