package loop

import (
	"sync/atomic"
	"time"

	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/timed"
)

// Snapshot is the state that readers answer from, together with their own reading of
// the clock. It is immutable once published, except for Shown.
type Snapshot struct {
	stack.Snapshot
	Era         uint32 // of the hardware clock: in another era, every lease is void
	Trust       *Trust // in the clock; once it is lost, every lease is void
	Phase       *Phase // of the local lead
	GlobalPhase *Phase // of the global lead
	// Shown is the latest time of the clock's timeline that any reader was given. All
	// snapshots of one timeline and incarnation share it. Another incarnation has another
	// one, so that a clock that is not trusted any more holds back no other.
	Shown *atomic.Int64
}

// Phase is a period in which this node leads, or follows one node, without a change.
type Phase struct {
	Leads  bool
	Since  timed.Instant     // the turn in which it began
	Leader timed.Incarnation // the node that this one follows, if it does not lead
	// Over is closed when the phase is over and the snapshot of the next one is
	// published.
	Over chan struct{}

	lost *Lost // written before Over is closed
}

// Lost says why a lead has ended.
type Lost struct {
	Reason leader.Reason
	By     timed.NodeID // whose message or silence caused it, if anyone's
}

// Lost returns why the lead of a phase that is over has ended; nil if its lease was
// not renewed in time. It must not be called before Over is closed.
func (p *Phase) Lost() *Lost { return p.lost }

// Lease returns the phase that a lead belongs to, and until when its lease lasts;
// zero if there is none.
func (s *Snapshot) Lease(global bool) (p *Phase, until timed.Instant) {
	switch {
	case global && s.Global:
		return s.GlobalPhase, s.GlobalUntil
	case global:
		return s.GlobalPhase, 0
	case s.Leading:
		return s.Phase, s.Expiration
	}
	return s.Phase, 0
}

// Lasts returns how much longer a lead lasts for users that need a margin before its end;
// zero once it is over. p is the phase of the lead, or nil.
func (s *Snapshot) Lasts(p *Phase, global bool, now timed.Instant, margin time.Duration) time.Duration {
	if phase, until := s.Lease(global); p != nil && phase == p {
		return max(until.Sub(now)-margin, 0)
	}
	return 0
}
