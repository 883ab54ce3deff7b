package failaware

import (
	"context"
	"time"

	"github.com/failaware/failaware/clocksync"
)

// ErrTimelineChanged is why a reading cannot be compared with another one; see
// [clocksync.Order].
var ErrTimelineChanged = clocksync.ErrTimelineChanged

// Between two looks at the clock while CommitWait waits.
const (
	minCommitWait = 10 * time.Microsecond
	maxCommitWait = 10 * time.Millisecond
)

// CommitWait waits until the reading t, of any node, is surely in the past:
// every node that reads its clock afterwards on the same timeline gets a reading that
// [clocksync.Order] does not put before t. That takes about the deviations of t and of
// this node's clock together.
//
// It returns [ErrTimelineChanged] when the timeline of this node is not that of t and
// the two cannot be compared by UTC either, [ErrClosed] when the node stops, and the
// cause of ctx when that is done first. While the clock is not synchronized it waits.
func (n *Node) CommitWait(ctx context.Context, t Reading) error {
	for {
		now := n.Clock()
		order, err := clocksync.Order(t, now)
		if err != nil && !now.Timeline.None() {
			return err
		}
		if order == clocksync.Earlier {
			return nil
		}
		wait := maxCommitWait
		if left := t.Latest().Sub(now.Earliest()); left >= 0 {
			wait = min(max(left, minCommitWait), maxCommitWait)
		}
		select {
		case <-time.After(wait):
		case <-n.done:
			return ErrClosed
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
