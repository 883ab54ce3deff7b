//go:build mutants

package hwclock

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/mutant"
)

func TestReadingRAWLastIsNoticed(t *testing.T) {
	mutant.Set("ReadRawLast")
	t.Cleanup(func() { mutant.Set(mutant.None) })
	require.Error(t, checkClock(1, 2000), "on an idle machine that is never suspended")
	require.Error(t, checkClock(2, 2000), "on a busy machine")
}

func TestAnUnseenSleepIsNoticed(t *testing.T) {
	mutant.Set("SleepUnseen")
	t.Cleanup(func() { mutant.Set(mutant.None) })
	noticed := 0
	for seed := range uint64(60) {
		if checkClock(seed, 2000) != nil {
			noticed++
		}
	}
	require.Positive(t, noticed)
}

func TestAWatchThatEndsIsNoticed(t *testing.T) {
	mutant.Set("WatchEndsOnError")
	t.Cleanup(func() { mutant.Set(mutant.None) })
	_, left := watched(t)
	require.NotEqual(t, 1, left)
}
