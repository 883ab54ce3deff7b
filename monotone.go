package failaware

import (
	"sync/atomic"

	"github.com/failaware/failaware/clocksync"
)

// shown is the latest reading of one timeline that any reader was given. All
// states of the timeline share it. The loop bends the displayed clock at the
// instant of its turn, a little before readers can see that; a reader of the
// older state may thus have been given a time that the newer one reaches only
// a moment later.
type shown struct{ latest atomic.Int64 }

// after returns r, or the latest reading if r would run back behind it; what it
// lacks is added to the bounds, so that the claims still hold.
func (h *shown) after(r Reading) Reading {
	for {
		last := h.latest.Load()
		if int64(r.Time) < last {
			back := clocksync.Time(last).Sub(r.Time)
			r.Time = clocksync.Time(last)
			if r.Deviation != clocksync.UnknownBound {
				r.Deviation += back
			}
			if r.UTCBound != clocksync.UnknownBound {
				r.UTCBound += back
			}
			return r
		}
		if h.latest.CompareAndSwap(last, int64(r.Time)) {
			return r
		}
	}
}
