//go:build mutants

package failaware

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/mutant"
)

// Without the second load, the reader of [race] vouches for a lease that was
// given up before it read its clock.
func TestRaceNoticesSnapshotOnce(t *testing.T) {
	mutant.Set("SnapshotOnce")
	defer mutant.Set(mutant.None)
	l, v := race()
	require.True(t, l.Leads)
	require.True(t, v.UpToDate)
}
