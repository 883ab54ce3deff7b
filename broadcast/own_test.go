package broadcast

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// Payloads in a slab are delivered like copied ones, whole and in fragments. The caller
// may offer a refused payload again. A slab is reused once it is closed and nothing in
// it is held, in either order.
func TestMessagesInSlabs(t *testing.T) {
	g := newTrio(3, Config{Window: 1 << 17, MaxPayload: 1 << 16})
	g.keep = true
	s := g.nodes[0]
	slab, mem := s.TakeSlab()
	require.Equal(t, SlabBytes, cap(mem))
	var sent []string
	put := func(size int) error {
		at := len(mem)
		payload := paint(len(sent), size)
		more := append(mem, payload...)
		_, err := s.BroadcastSlab(g.reading(0), slab, at, size, Options{Order: TotalOrder, Atomicity: WeakAtomicity})
		if err == nil {
			mem, sent = more, append(sent, string(payload))
		}
		return err
	}
	for _, size := range []int{10, 0, 5000, 300} {
		require.NoError(t, put(size))
	}
	_, err := g.cast(0, paint(9, 90), Options{Order: TotalOrder, Atomicity: WeakAtomicity})
	require.NoError(t, err)
	sent = append(sent, string(paint(9, 90)))
	require.ErrorIs(t, put(50_000), ErrWindowFull)
	g.run(300_000_000)
	require.Zero(t, slab.home.refs)
	require.Zero(t, s.arena.spare, "the slab is still open")
	for range mostChances {
		require.ErrorIs(t, put(300), ErrWindowFull, "the room is kept for the message that was refused")
	}
	require.NoError(t, put(300))
	g.run(10_000_000)
	for i := range g.nodes {
		require.Equal(t, sent, g.payloads[i])
	}

	g.run(300_000_000)
	require.Zero(t, slab.home.refs)
	s.CloseSlab(slab)
	require.Equal(t, SlabBytes, s.arena.spare)
	again, other := s.TakeSlab()
	require.Same(t, unsafe.SliceData(mem), unsafe.SliceData(other))
	slab, mem = again, other
	require.NoError(t, put(10))
	s.CloseSlab(slab)
	require.Zero(t, s.arena.spare, "held payloads keep the slab")
	g.run(300_000_000)
	require.Equal(t, SlabBytes, s.arena.spare)
}
