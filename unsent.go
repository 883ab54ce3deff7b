package failaware

import (
	"fmt"
	"net/netip"
)

// unsentTo says why packets to an address cannot be sent, if the system has refused all of them
// lately. Otherwise it is empty.
func (n *Node) unsentTo(to netip.AddrPort) string {
	c, ok := n.conn.(interface{ Unsent(netip.AddrPort) error })
	if !ok {
		return ""
	}
	err := c.Unsent(to)
	if err == nil {
		return ""
	}
	from := n.conn.LocalAddr().Addr()
	text := fmt.Sprintf("cannot send to %v from the address %v: %v", to, from, err)
	if from.IsLoopback() && !to.Addr().IsLoopback() {
		text += "; that address reaches this machine only"
	}
	return text
}
