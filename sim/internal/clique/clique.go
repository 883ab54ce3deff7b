// Package clique computes minimum clique covers of connectivity graphs.
package clique

import "math/bits"

// MaxNodes is the largest graph that [Cover] takes: its time grows as 3ⁿ.
const MaxNodes = 14

// Cover returns the size of a minimum clique cover of a symmetric graph, by dynamic
// programming over the sets of nodes. Bit j of graph[i] tells whether i and j are connected;
// the bits of a node with itself do not matter.
func Cover(graph []uint32) int {
	n := len(graph)
	clique := make([]bool, 1<<n)
	best := make([]int, 1<<n)
	clique[0] = true
	for s := 1; s < 1<<n; s++ {
		i := bits.TrailingZeros(uint(s))
		rest := s &^ (1 << i)
		clique[s] = clique[rest] && int(graph[i])&rest == rest
		best[s] = n + 1
		for sub := s; sub > 0; sub = (sub - 1) & s {
			if sub>>i&1 == 1 && clique[sub] {
				best[s] = min(best[s], best[s&^sub]+1)
			}
		}
	}
	return best[1<<n-1]
}
