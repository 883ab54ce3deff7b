//go:build mutants

package metrics

import (
	"testing"

	"github.com/failaware/failaware/internal/mutant/kill"
)

func TestMutantsAreKilled(t *testing.T) {
	kill.Units(t, "internal/metrics", map[string]func(testing.TB){
		"MetricsFromNowOn":   earlierEventsCount,
		"ScrapeOfTheStalled": stalledLoopIsLeftOut,
	})
}
