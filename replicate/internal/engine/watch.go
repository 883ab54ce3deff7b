package engine

import (
	"context"
	"time"

	"github.com/failaware/failaware/internal/replica"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// hangsAfter is how long a call of the application may last before an event tells of it.
const hangsAfter = 10 * time.Second

// Members are told of that have not reported their states for this long, and again later.
const (
	reportsAfter = hangsAfter / 2
	reportsAgain = time.Minute
)

// Event is an event of the machine, or tells that a call of the application or the wait for
// the states of members lasts.
type Event struct {
	replica.Event
	Hangs   time.Duration // how long the call lasts so far; 0: it is another event
	Waiting int           // calls behind it
	Reports time.Duration // how long the wait for Members lasts so far; 0: it is another event
}

// tell reports an event.
func (e *Engine) tell(v Event) {
	if e.event == nil {
		return
	}
	e.events <- struct{}{}
	defer func() { <-e.events }()
	e.teller.Store(goroutine())
	defer e.teller.Store(0)
	e.event(v)
}

// awaited is the view in which this node waits for the states of members.
type awaited struct {
	view       membership.ViewID
	since, due timed.Instant
}

// watchReports reports, now and then, which members have not reported their states for long:
// those that run without a replica would hold up the others without a word.
func (e *Engine) watchReports(a *awaited) {
	s, _ := e.Status()
	now := e.now()
	switch {
	case s.Unreported.Empty():
		*a = awaited{}
	case s.View != a.view:
		*a = awaited{s.View, now, now.Add(reportsAfter)}
	case now >= a.due:
		a.due = now.Add(reportsAgain)
		e.tell(Event{Event: replica.Event{View: s.View, Members: s.Unreported}, Reports: now.Sub(a.since)})
	}
}

// watch reports each call that lasts too long, once, and members that keep others waiting.
func (e *Engine) watch(ctx context.Context) {
	tick := time.NewTicker(hangsAfter / 2)
	defer tick.Stop()
	told := int64(0)
	var reports awaited
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		e.watchReports(&reports)
		began := e.calling.Load()
		if began == 0 || began == told {
			continue
		}
		if d := e.now().Sub(timed.Instant(began)); d >= hangsAfter {
			told = began
			s, _ := e.Status()
			e.tell(Event{Event: replica.Event{View: s.View}, Hangs: d, Waiting: e.Behind()})
		}
	}
}
