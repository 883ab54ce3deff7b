//go:build mutants

package commandqueue

import (
	"testing"

	"github.com/failaware/failaware/internal/mutant/kill"
)

func TestMutantsAreKilled(t *testing.T) {
	kill.Units(t, "internal/loop/commandqueue", map[string]func(testing.TB){
		"CommandsForgotten": pendingIsTrue,
	})
}
