package datagram

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTwoPacketsWithOneCounterAreOfTwins(t *testing.T) {
	var l recentPackets
	for c := uint64(1); c <= 3*recentCount; c++ {
		h := Header{Counter: c}
		h.Stamp = h.Stamp.Add(100)
		require.False(t, l.conflict(&h))
		require.False(t, l.conflict(&h), "the network repeats a packet")
	}
	h := Header{Counter: 3*recentCount - 1, Stamp: 7}
	require.True(t, l.conflict(&h))
	h.Counter -= 2 * recentCount
	require.False(t, l.conflict(&h), "a packet from long ago proves nothing")
	h.Counter = 0
	require.False(t, l.conflict(&h))
	h.Stamp++
	require.False(t, l.conflict(&h), "a packet without a counter proves nothing")
}
