package engine

import (
	"context"
	"time"

	"github.com/failaware/failaware/internal/replica"
	"github.com/failaware/failaware/timed"
)

// hangsAfter is how long a call of the application may last before an event tells of it.
const hangsAfter = 10 * time.Second

// Event is an event of the machine, or tells that a call of the application lasts.
type Event struct {
	replica.Event
	Hangs   time.Duration // how long the call lasts so far; 0: it is an event of the machine
	Waiting int           // calls behind it
}

// tell reports an event.
func (e *Engine) tell(v Event) {
	if e.event == nil {
		return
	}
	e.events.Lock()
	defer e.events.Unlock()
	e.teller.Store(goroutine())
	defer e.teller.Store(0)
	e.event(v)
}

// watch reports each call that lasts too long, once.
func (e *Engine) watch(ctx context.Context) {
	tick := time.NewTicker(hangsAfter / 2)
	defer tick.Stop()
	told := int64(0)
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
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
