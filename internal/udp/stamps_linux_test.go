package udp

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/timed"
)

// A batch brackets the packets of the next one only if it was the last: others that wait may
// be older. After a step of the clock, a sample from before it converts no stamp at all.
func TestSamplesThatBracketTheNextBatch(t *testing.T) {
	old, fresh := hwclock.RealtimeSample{At: 1, Offset: time.Hour}, hwclock.RealtimeSample{At: 2, Offset: 2 * time.Hour}
	for _, c := range []struct {
		drained, usable bool
		want            timed.Instant
	}{{true, true, 2}, {false, true, 1}, {true, false, 2}, {false, false, 2}} {
		s := stamper{before: old, after: fresh, usable: c.usable}
		s.end(c.drained)
		require.Equal(t, c.want, s.before.At, "%+v", c)
	}
}
