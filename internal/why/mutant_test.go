//go:build mutants

package why

import (
	"testing"

	"github.com/failaware/failaware/internal/mutant/kill"
)

func TestMutantsAreKilled(t *testing.T) {
	kill.Units(t, "internal/why", map[string]func(testing.TB){
		"WhyLongAgo":     oldEventsAreNoReason,
		"WhyTheReturned": whoCameBackIsNotBlamed,
		"WhyTheOldest":   latestCausesAreKept,
	})
}
