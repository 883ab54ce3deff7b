package datagram

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTwoPacketsOfOneCounterAreOfTwins(t *testing.T) {
	var l ledger
	for c := uint64(1); c <= 3*ledgerSize; c++ {
		h := Header{Counter: c}
		h.Stamp = h.Stamp.Add(100)
		require.False(t, l.clash(&h))
		require.False(t, l.clash(&h), "the network repeats a packet")
	}
	h := Header{Counter: 3*ledgerSize - 1, Stamp: 7}
	require.True(t, l.clash(&h))
	h.Counter -= 2 * ledgerSize
	require.False(t, l.clash(&h), "a packet from long ago proves nothing")
	h.Counter = 0
	require.False(t, l.clash(&h))
	h.Stamp++
	require.False(t, l.clash(&h), "whoever does not count says nothing")
}
