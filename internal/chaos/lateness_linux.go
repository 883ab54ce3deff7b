package chaos

import (
	"context"
	"sync/atomic"
	"time"
)

// lateness measures how late a sleeping goroutine wakes up.
type lateness struct{ worst atomic.Int64 }

// run measures until ctx is done.
func (l *lateness) run(ctx context.Context) {
	for ctx.Err() == nil {
		before := time.Now()
		time.Sleep(time.Millisecond)
		if late := int64(time.Since(before) - time.Millisecond); late > l.worst.Load() {
			l.worst.Store(late)
		}
	}
}

// reset returns the worst lateness since the last reset.
func (l *lateness) reset() time.Duration { return time.Duration(l.worst.Swap(0)) }
