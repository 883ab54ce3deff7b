package broadcast

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

// A member whose application is behind warns once, and then leaves.
func TestAMemberThatIsBehindHasOneThingToDo(t *testing.T) {
	for _, c := range []struct {
		l    backpressure
		want timed.Instant
	}{
		{backpressure{on: true, warnAt: 5, leaveAt: 9}, 5},
		{backpressure{on: true, warned: true, warnAt: 5, leaveAt: 9}, 9},
		{backpressure{on: true, warned: true, leaving: true, warnAt: 5, leaveAt: 9}, timed.Never},
		{backpressure{warnAt: 5, leaveAt: 9}, timed.Never},
	} {
		require.Equal(t, c.want, c.l.due(), "%+v", c.l)
	}
}
