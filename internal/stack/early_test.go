package stack

import (
	"fmt"

	"github.com/failaware/failaware/timed"
)

// rests panics if a layer of a stack is due, or has work to do, before the stack's deadline:
// nobody would call it in time. All worlds of these tests ask.
func (s *Stack) rests(now timed.Instant) {
	if s.Oversleeps(now) {
		panic(fmt.Sprintf("node %v: a layer is due before the deadline", s.cfg.Self.Node))
	}
	if now >= s.Deadline() {
		return
	}
	due, alive := s.election.Deadline(), s.datagrams.Alive(s.lastTurn)
	work := map[string]bool{
		"alive":      s.datagrams.Alive(now) != alive,
		"keepalives": !s.datagrams.KeepalivesDue(now, false).Empty(),
		"election":   len(s.election.HandleTimeout(now, nil)) > 0 || s.election.Deadline() != due,
		"views":      len(s.views.HandleTimeout(now, s, nil)) > 0,
		"relay":      s.relay.due() <= now,
		"epochs":     s.epochs.machine != nil && len(s.epochs.machine.HandleTimeout(now, nil)) > 0,
		"ready":      !s.ready && s.election.Ready(now),
	}
	for layer, has := range work {
		if has {
			panic(fmt.Sprintf("node %v: %s, %v before the deadline", s.cfg.Self.Node, layer, s.Deadline().Sub(now)))
		}
	}
}
