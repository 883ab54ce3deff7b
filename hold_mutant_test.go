//go:build mutants

package failaware

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/mutant"
)

func TestHandOverNoticesHoldOfTheSnapshot(t *testing.T) {
	mutant.Set("HoldOfTheSnapshot")
	defer mutant.Set(mutant.None)
	const tries = 5
	for range tries {
		if handedOver(t) > 0 {
			return
		}
	}
	require.Fail(t, "the next leader always waited")
}
