package bench

import (
	"context"
	"time"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/event"
	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/timed"
)

// watcher reports the states of a node. One goroutine uses it.
type watcher struct {
	look func() state // takes the node's answers, without the peers that are alive
	put  func(state)
	last state // reported last
}

// now returns the present state.
func (w *watcher) now() state {
	s := w.look()
	s.Alive = w.last.Alive
	return s
}

// lookAgain is how long a watcher lets a lapsed answer stand before it looks again.
const lookAgain = 20 * time.Millisecond

// watchNode reports the state of the node after every event, until ctx ends. The instant
// is that at which this goroutine has the event: when an application can know. expects has
// the nodes that should support the next leader.
func watchNode(ctx context.Context, node *failaware.Node, clock *hwclock.Clock, expects <-chan timed.Set, put func(state)) {
	w := &watcher{look: func() state { return look(node, clock) }, put: put}
	events := make(chan event.Event)
	go func() {
		defer close(events)
		for e := range node.EventsSince(ctx, 0) {
			select {
			case events <- e:
			case <-ctx.Done():
				return
			}
		}
	}()
	again := time.NewTicker(lookAgain)
	defer again.Stop()
	var expect timed.Set
	for {
		select {
		case <-again.C:
			w.again()
		case e, ok := <-events:
			if !ok {
				return
			}
			select {
			case expect = <-expects:
			default:
			}
			w.event(e, expect)
		}
	}
}

// event reports the state after an event.
func (w *watcher) event(e event.Event, expect timed.Set) {
	s := w.now()
	switch e := e.(type) {
	case event.PeerAlive:
		s.Alive.Add(e.Peer)
	case event.PeerSilent:
		s.Alive.Remove(e.Peer)
	}
	w.report(s)
	if _, elected := e.(event.Elected); elected {
		w.support(expect)
	}
}

// again reports a lease that holds again. Its answer had lapsed when an event came, and
// the loop renewed it before it noticed: no event says so.
func (w *watcher) again() {
	if w.last.Held && w.last.Fresh {
		return
	}
	s := w.now()
	if s.Held != w.last.Held || s.Fresh != w.last.Fresh {
		w.report(s)
	}
}

// support reports how the support of a new leader grows until all expected nodes support
// it. There is no event for that.
func (w *watcher) support(expect timed.Set) {
	s := w.last
	for end := s.At.Add(100 * time.Millisecond); s.At < end && !expect.Subset(s.Support); {
		time.Sleep(200 * time.Microsecond)
		s = w.now()
		if s.Support != w.last.Support {
			w.report(s)
		}
	}
}

func (w *watcher) report(s state) {
	w.last = s
	w.put(s)
}

// look takes the node's answers.
func look(node *failaware.Node, clock *hwclock.Clock) state {
	s := state{At: clock.Now()}
	l, v := node.Leader(), node.View()
	s.Leader, s.Held, s.Leads, s.Support = l.Leader, l.UpToDate, l.Leads, l.Support
	s.Fresh = v.UpToDate
	s.View, s.Members = v.View.ID, v.View.Set
	return s
}
