package commandqueue

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestQueue(t *testing.T) {
	var q Queue[int]
	require.False(t, q.Pending())
	require.Empty(t, q.Take())
	require.True(t, q.Put(1))
	require.True(t, q.Put(2))
	require.True(t, q.Pending())
	require.Equal(t, []int{1, 2}, q.Take())
	require.False(t, q.Pending())
	require.True(t, q.Put(3))
	q.Close()
	require.False(t, q.Put(4))
	require.Empty(t, q.Take(), "nobody is left to perform it")
}
