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
	require.True(t, q.Put(4))
	require.True(t, q.Has(3))
	require.True(t, q.Withdraw(3))
	require.False(t, q.Withdraw(3))
	require.False(t, q.Has(3))
	require.True(t, q.Pending())
	require.Equal(t, []int{4}, q.Take())
	require.False(t, q.Withdraw(4), "it was taken")
	require.True(t, q.Put(5))
	require.True(t, q.Withdraw(5))
	require.False(t, q.Pending())
	require.True(t, q.Put(3))
	q.Close()
	require.False(t, q.Withdraw(3))
	require.False(t, q.Put(4))
	require.Empty(t, q.Take(), "nobody is left to perform it")
}
