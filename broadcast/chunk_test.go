package broadcast

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Small chunks are reused even after large ones were needed, and no more than the limit
// is kept.
func TestLargeChunksMakeWayForSmallOnes(t *testing.T) {
	a := arena{most: 16 * chunkSize}
	use := func(count, size int) {
		var taken []*chunk
		for range count {
			c := a.take(size)
			c.refs = 1
			taken = append(taken, c)
		}
		for _, c := range taken {
			a.drop(c)
			require.LessOrEqual(t, a.spare, a.most)
		}
	}
	use(8, 4*chunkSize)
	require.Len(t, a.free[2], 4)
	use(1, 64*chunkSize)
	require.Empty(t, a.free[6], "it is larger than the limit")
	use(10, chunkSize)
	require.Len(t, a.free[0], 10)
	require.Equal(t, 10*chunkSize+4*chunkSize, a.spare)
	require.Zero(t, testing.AllocsPerRun(10, func() {
		var taken [10]*chunk
		for i := range taken {
			taken[i] = a.take(chunkSize)
			taken[i].refs = 1
		}
		for _, c := range taken {
			a.drop(c)
		}
	}))
}
