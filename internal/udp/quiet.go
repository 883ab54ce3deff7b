package udp

import (
	"cmp"
	"slices"
)

// Quiet says how the packets are marked that need not wake the reader: the byte at Offset
// has one of the bits of Mask. Such packets have at most 512 bytes.
type Quiet struct {
	Offset int
	Mask   byte
}

// takeQuiet reads the quiet packets that have come besides the n packets of pkts, and
// puts all of them in the order in which they were received. It returns their number.
func (c *Conn) takeQuiet(pkts []Packet, n int) (int, error) {
	quiet, err := c.sock.readQuiet(pkts[n:])
	if quiet > 0 && n > 0 {
		slices.SortStableFunc(pkts[:n+quiet], func(a, b Packet) int { return cmp.Compare(a.Received, b.Received) })
	}
	return n + quiet, err
}
