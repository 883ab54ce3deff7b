package epoch

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

// What is left of a group may go on with new nodes: they need not be members of the epoch that ends.
func forceTakesNewNodes(t testing.TB) {
	m := machine(t, 1, first())
	out, err := m.Force(2000, "majority 1,4,5", timed.SetOf(2, 3), nil)
	require.NoError(t, err)
	require.True(t, told(out, Entered))
	require.Equal(t, "majority 1,4,5", m.State().System)
}

func TestForceTakesNewNodes(t *testing.T) { forceTakesNewNodes(t) }
