//go:build mutants

package leader

import (
	"testing"

	"github.com/failaware/failaware/internal/mutant"
)

// A lock is to the incarnation: the simulator's nodes wait long enough after a
// restart that the rule shows only when ids are used twice, so it is checked
// here.
func TestLockIgnoresBootIsKilled(t *testing.T) {
	if err := lockSurvivesRestart(); err != nil {
		t.Fatal(err)
	}
	mutant.Set(mutant.LockIgnoresBoot)
	defer mutant.Set(mutant.None)
	if lockSurvivesRestart() == nil {
		t.Fatal("a vote moved to another incarnation, and nothing noticed")
	}
}
