//go:build mutants

package fence

import (
	"testing"

	"github.com/failaware/failaware/internal/mutant"
	"github.com/failaware/failaware/internal/mutant/kill"
)

func TestMutantsAreKilled(t *testing.T) {
	kill.Units(t, "leader/edict/fence", map[mutant.ID]func(testing.TB){mutant.FenceObeyFirst: notedFirst})
}
