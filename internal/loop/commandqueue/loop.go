package commandqueue

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
