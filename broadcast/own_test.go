package broadcast

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// What stands in a slab is delivered as what is copied is, whole and in fragments, and
// what the machine does not take may be offered again. The slab is used again when it
// is closed and nothing in it is held, whichever comes last.
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
		_, err := s.BroadcastSlab(g.reading(), slab, at, size, Options{Order: TotalOrder, Atomicity: WeakAtomicity})
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
	require.Zero(t, s.arena.spare, "more may come")
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
	require.Zero(t, s.arena.spare, "what is held stays")
	g.run(300_000_000)
	require.Equal(t, SlabBytes, s.arena.spare)
}
