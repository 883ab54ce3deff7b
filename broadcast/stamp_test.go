package broadcast

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/clocksync"
)

// promiseHolds reports whether a header keeps its promise about a message that was
// stamped before the header and is sent after it.
func promiseHolds() bool {
	g := newTrio(2, Config{})
	s := g.nodes[0]
	if _, err := s.Broadcast(clocksync.Reading{Time: 1000}, nil, Options{Order: TimedOrder, Atomicity: WeakAtomicity}); err != nil {
		return false
	}
	return s.Header(clocksync.Reading{Time: 2000}).Floor <= 1000
}

func TestAHeaderPromisesNothingOverWhatWaits(t *testing.T) { require.True(t, promiseHolds()) }

// Stamps never run back and never fall below a promise. The deviation includes the
// correction.
func TestStampsOnlyGrow(t *testing.T) {
	s := New(Config{Self: incarnation(0)})
	stamp, dev := s.stampNow(clocksync.Reading{Time: 1000, Deviation: 5})
	require.Equal(t, clocksync.Time(1000), stamp)
	require.EqualValues(t, 5, dev)
	stamp, dev = s.stampNow(clocksync.Reading{Time: 900, Deviation: 5})
	require.Equal(t, clocksync.Time(1000), stamp)
	require.EqualValues(t, 105, dev)
	_, dev = s.stampNow(clocksync.Reading{Time: 900, Deviation: clocksync.UnknownBound})
	require.Equal(t, clocksync.UnknownBound, dev)
}
