//go:build mutants

package stack

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/mutant"
	"github.com/failaware/failaware/timed"
)

// forcedAtOnce has a node of two forced to go on alone before it is ready, and looks at it all the
// time. It returns what is due before the stack's deadline, or nil.
func forcedAtOnce() (early any) {
	defer func() { early = recover() }()
	s := restartedOfTwo()
	if _, err := s.Force(1, "majority:1", timed.SetOf(2), nil); err != nil {
		panic(err)
	}
	for now := timed.Instant(1); s.Epoch().Epoch == 1; now = now.Add(time.Millisecond) {
		s.rests(now)
		if now >= s.Deadline() {
			s.HandleTimeout(now, nil)
		}
	}
	return nil
}

func TestRestsNoticesEpochSleepsOn(t *testing.T) {
	require.Nil(t, forcedAtOnce())
	mutant.Set("EpochSleepsOn")
	defer mutant.Set(mutant.None)
	require.Contains(t, forcedAtOnce(), "node 1: epochs, ")
}
