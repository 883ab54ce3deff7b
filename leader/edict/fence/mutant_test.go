//go:build mutants

package fence

import (
	"testing"

	"github.com/failaware/failaware/internal/mutant/kill"
)

func TestMutantsAreKilled(t *testing.T) {
	kill.Units(t, "leader/edict/fence", map[string]func(testing.TB){
		"FenceMarkedUnwritten": failedMarkIsWritten,
		"FenceObeyFirst":       recordedFirst,
		"FenceLossUnnoticed":   lostFile,
		"FenceClosesBusy":      closesLast,
		"FenceObeysLate":       closesLast,
	})
}
