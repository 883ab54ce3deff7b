package commandqueue

// Put adds a command, unless the queue is closed. That it reports true is no promise
// that the command will be taken: the queue may be closed before.
func (q *Queue[C]) Put(c C) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false
	}
	q.commands = append(q.commands, c)
	q.pending.Store(true)
	return true
}
