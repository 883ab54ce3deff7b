package broadcast

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Packets of one size leave and arrive together where the kernel supports it.
// Alternating full fragments with small ones would defeat that.
func TestFragmentsAreOfOneSize(t *testing.T) {
	for _, n := range []int{951, 1024, 1901, 16 << 10, DefaultMaxPayload} {
		g := newTrio(2, Config{})
		var sizes []int
		g.drop = func(_, _ int, p *Packet) bool {
			for i := range p.Runs {
				for j := range p.Runs[i].Count {
					sizes = append(sizes, p.Runs[i].size(j))
				}
			}
			return false
		}
		_, err := g.cast(0, make([]byte, n), Options{Order: TotalOrder, Atomicity: WeakAtomicity})
		require.NoError(t, err)
		g.turn()
		frags := (n + DefaultPacketBytes - 1) / DefaultPacketBytes
		require.Len(t, sizes, frags)
		most := (n + frags - 1) / frags
		for _, size := range sizes[:frags-1] {
			require.Equal(t, most, size, "%d bytes", n)
		}
		require.Equal(t, n-(frags-1)*most, sizes[frags-1])
	}
}
