package failaware

import (
	"context"
	"fmt"
	"time"

	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/timed"
)

// Verification is a node's answer to the question whether it leads, as a promise by
// the own clock. It is a value, and safe for concurrent use.
type Verification struct {
	// By is the incarnation that answered.
	By Incarnation

	local, global timed.Instant
	era           uint32
	clock         *hwclock.Clock
}

// Global returns how long from now on nobody but By leads globally; 0: that is not
// known, or no longer. By itself may step down before. Each call reads the hardware
// clock.
func (v Verification) Global() time.Duration { return v.left(v.global) }

// Local is as Global for the local lead: nobody but By leads with the support of By,
// or of a node that supported By when it answered.
func (v Verification) Local() time.Duration { return v.left(v.local) }

func (v Verification) left(until timed.Instant) time.Duration {
	if until == 0 {
		return 0
	}
	r := v.clock.Read()
	if r.Era != v.era {
		return 0 // the machine slept, and for how long is not known well enough
	}
	return left(until, r.Now)
}

// Verify asks a node whether it leads, and returns its answer. It asks again every
// ElectionPeriod until an answer comes. The answering node frees no vote while its
// answer holds, so frequent questions make hand-overs slower. A node can ask itself,
// and its answer binds it as any other.
//
// The error is [ErrClosed] or the cause of ctx, or says that id is none.
func (n *Node) Verify(ctx context.Context, id NodeID) (Verification, error) {
	if !id.Valid() {
		return Verification{}, fmt.Errorf("failaware: Verify: a node id from 1 to %d is needed", timed.MaxNodes)
	}
	a, err := n.loop.Verify(ctx, id, n.cfg.Timing.ElectionPeriod)
	if err != nil {
		return Verification{}, err
	}
	return Verification{By: a.By, local: a.Local, global: a.Global, era: a.Era, clock: n.clock}, nil
}
