package loop

import (
	"sync/atomic"

	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/timed"
)

// Trust is the trust in the hardware clock during one incarnation. The snapshots and
// the promises of an incarnation share it, and end with it. It is safe for concurrent
// use.
type Trust struct {
	turn atomic.Int64 // the reading of the latest turn
	lost atomic.Bool  // there is evidence against the clock
}

// NewTrust returns the trust in a clock that shows now.
func NewTrust(now timed.Instant) *Trust {
	t := &Trust{}
	t.turn.Store(int64(now))
	return t
}

// Lose notes evidence against the clock.
func (t *Trust) Lose() { t.lost.Store(true) }

// Lost reports whether the incarnation has ended because of evidence against its
// clock. A nil Trust is never lost.
func (t *Trust) Lost() bool { return t != nil && t.lost.Load() }

// Read reads the clock for an answer. ok is false if the answer must not rest on the
// reading: there is evidence against the clock, or the clock shows less than in an earlier
// turn of the loop.
func (t *Trust) Read(read func() hwclock.Reading) (r hwclock.Reading, ok bool) {
	if t == nil {
		return read(), true
	}
	before := t.turn.Load()
	r = read()
	return r, int64(r.Now) >= before && !t.lost.Load()
}
