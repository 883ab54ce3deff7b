package failaware

import (
	"time"

	"github.com/failaware/failaware/internal/life"
	"github.com/failaware/failaware/internal/loop"
	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/timed"
)

// sink is the node as its loop sees it: it turns the reports of the loop into events.
// Its methods, and the functions of the event table that they call, are the only code
// of this package that runs on the loop's goroutine.
type sink Node

// header returns the header of the next event.
func (s *sink) header() EventHeader {
	return EventHeader{Sequence: s.events.Last() + 1, Time: time.Now()}
}

// Event implements [loop.Sink].
func (s *sink) Event(e *stack.Event) {
	if r := eventOf[e.Kind]; r != nil {
		s.events.Add(r.make((*Node)(s), s.header(), e))
	}
}

// Restarted implements [loop.Sink].
func (s *sink) Restarted(why life.Reason, previous, boot BootID) {
	s.events.Add(Restarted{s.header(), restartReasons[why], previous, boot})
}

// published calls Config.OnPublish.
func (s *sink) published(x *loop.Snapshot, turn, done timed.Instant) {
	s.cfg.OnPublish(Published{Turn: turn, Done: done, Era: x.Era, Self: x.Self,
		Leading: x.Leading, LeadUntil: x.Expiration, Support: x.Support,
		Global: x.Global, GlobalUntil: x.GlobalUntil,
		View: x.View, ViewUntil: x.ValidUntil})
}
