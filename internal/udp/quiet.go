package udp

import "sort"

// Quiet says how packets that need not wake the reader are marked: the byte at Offset has
// one of the bits of Mask. Such packets have at most 512 bytes.
type Quiet struct {
	Offset int
	Mask   byte
	// OneIn, if not 0, makes one in so many quiet packets, at random, wake the reader all
	// the same, so that it reads a flood of them before they fill the buffer.
	OneIn int
}

// beside returns the room for the packets that are not quiet. Quiet packets that came
// before them must find room beside them, however many there are.
func (c *Conn) beside(pkts []Packet) []Packet {
	if !c.sock.hasQuiet() {
		return pkts
	}
	return pkts[:(len(pkts)+1)/2]
}

// takeQuiet reads the quiet packets that have come besides the n packets of pkts, and
// puts all of them in the order in which they were received. It returns their number.
func (c *Conn) takeQuiet(pkts []Packet, n int) (int, error) {
	quiet, err := c.sock.readQuiet(pkts[n:])
	if quiet > 0 && n > 0 {
		sort.SliceStable(pkts[:n+quiet], func(i, j int) bool { return pkts[i].Received < pkts[j].Received })
	}
	return n + quiet, err
}
