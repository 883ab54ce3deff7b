package kv

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// full returns a set of dots of as many writers as fit, of which one wrote last.
func full(last uint64) *dots {
	var s dots
	for w := uint64(1); s.writers.n < maxWriters-1; w++ {
		if w != last {
			s.add(Dot{w, 1})
		}
	}
	s.add(Dot{last, 1})
	return &s
}

// joinsForgetTheSilent joins sets of many writers. Those that were silent for longest in both
// are forgotten, then and afterwards.
func joinsForgetTheSilent(t testing.TB) {
	const active, other = 1, 1 << 40 // the first in the order of names
	var s dots
	s.join(full(active))
	s.add(Dot{other, 1})
	require.True(t, s.has(Dot{active, 1}), "it wrote last of all")
	require.False(t, s.has(Dot{2, 1}), "it is silent for longest")

	o := full(active)
	for w := uint64(other); w < other+maxWriters/2; w++ {
		o.add(Dot{w, 1})
	}
	o.add(Dot{3, 2})
	s.join(o)
	require.Equal(t, maxWriters, s.writers.n)
	for _, d := range []Dot{{3, 2}, {active, 1}, {other, 1}, {other + maxWriters/2 - 1, 1}} {
		require.True(t, s.has(d), "%v", d)
	}
	require.False(t, s.has(Dot{4, 1}), "it is silent for longest")
	require.Equal(t, o.clock, s.clock)
}

func TestJoinsForgetTheSilent(t *testing.T) { joinsForgetTheSilent(t) }
