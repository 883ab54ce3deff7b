//go:build mutants

package hwclock

import (
	"testing"

	"github.com/failaware/failaware/internal/mutant/kill"
)

func TestMutantsAreKilled(t *testing.T) {
	kill.Units(t, "internal/hwclock", map[string]func(testing.TB){"StepsUntold": stepsCancel})
}
