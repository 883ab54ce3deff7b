package keep

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/replica"
)

// The rank that a disk says is that of the last place on it: before, others must not count on it.
func TestADiskHasTheRankOfItsLastPlace(t *testing.T) {
	var m Marks
	for number := uint64(1); number <= 2; number++ {
		m.Add(&Step{Number: number, At: replica.Point{View: place(1).View, Position: number}, Rank: 10 * number})
	}
	for reached := uint64(1); reached <= 2; reached++ {
		m.Reach(reached)
		at, rank := m.Stored()
		require.Equal(t, reached, at.Position)
		require.Equal(t, 10*reached, rank)
	}
}
