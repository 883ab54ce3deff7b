package demo

import (
	"fmt"
	"sync"
	"time"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/event"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/membership"
)

// blameEvery is the least time between two entries that blame the machine.
const blameEvery = 5 * time.Second

// busyness distinguishes leases that end because the machine is late from leases that end
// because of a fault. All nodes share one process, and are late together.
type busyness struct {
	mu      sync.Mutex
	window  time.Duration // between a cause and the end of a lease, at most
	expired time.Time     // when a lease last ended without being renewed
	late    time.Time     // when timers were last served too late
	timers  uint64        // how many, in one go
	acted   time.Time     // when the user last did something
	blamed  time.Time
}

// act notes that the user does something.
func (b *busyness) act() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.acted = time.Now()
}

// note notes an event of a node.
func (b *busyness) note(e event.Event) {
	switch e := e.(type) {
	case event.LeadLost:
		if e.Reason != leader.LeaseExpired {
			return
		}
	case event.ViewStale:
		if e.Reason != membership.LeaseExpired {
			return
		}
	default:
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.expired = time.Now()
}

// served notes how many timers of a node were served too late since it was last asked.
func (b *busyness) served(late uint64) {
	if late == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if now := time.Now(); now.Sub(b.late) > b.window {
		b.late, b.timers = now, late
	} else {
		b.late, b.timers = now, b.timers+late
	}
}

// blame returns what to say if leases have ended, timers were late at about the same time, and
// the user has done nothing that explains it; otherwise it returns nothing.
func (b *busyness) blame(limit time.Duration) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	if b.expired.IsZero() || now.Sub(b.expired) > b.window || b.late.IsZero() || b.expired.Sub(b.late).Abs() > b.window ||
		b.expired.Sub(b.acted) < b.window || !b.blamed.IsZero() && now.Sub(b.blamed) < blameEvery {
		return ""
	}
	b.blamed, b.expired = now, time.Time{}
	return fmt.Sprintf("the machine is busy: it served timers (%d) more than %v late, and leases ended. No fault of the network is the cause", b.timers, limit)
}

// blameMachine adds an entry to the journal when leases have ended because the machine was late.
func (w *World) blameMachine() {
	if w.disturbed() {
		return
	}
	if text := w.busy.blame(w.timing.SchedulingDelay); text != "" {
		w.Note("%s", text)
	}
}

// disturbed reports whether a fault of the user lasts: a link that is cut or slow, or a node
// that is paused.
func (w *World) disturbed() bool {
	for _, p := range Both(w.All()) {
		if l := w.relay.Link(p.From, p.To); l.Cut || l.Delay > 0 {
			return true
		}
	}
	for _, p := range w.places() {
		if p.paused {
			return true
		}
	}
	return false
}

// late returns how many more timers were late than at the last status, which may be missing.
func late(last *failaware.Status, now *failaware.Status) uint64 {
	if last == nil {
		return now.Lateness.Late
	}
	return now.Lateness.Late - last.Lateness.Late
}
