package failaware

import (
	"fmt"
	"net/netip"

	"github.com/failaware/failaware/internal/transport"
)

// Transport carries the packets of a node, and is its hardware clock, in place of
// UDP sockets and the clock of this machine. Package sim/memory makes transports for
// tests. The type is opaque because every promise of a node rests on the
// times that its transport reports.
//
// With a transport, nodes find each other by their ids: [Config.Listen] and
// [Peer.Addr] may be empty, and a nil [Config.Peers] stands for the nodes that were
// started on the transport before. An address that is given must be an IP address
// with a port, because no names are looked up.
type Transport = transport.Transport

// withPeerAddrs returns a list of peers with the addresses that the transport
// gives to ids.
func (c *Config) withPeerAddrs(peers []Peer) []Peer {
	if c.Transport == nil || peers == nil {
		return peers
	}
	full := make([]Peer, len(peers))
	for i, p := range peers {
		if p.Addr == "" && p.ID.Valid() {
			p.Addr = c.Transport.Address(p.ID).String()
		}
		full[i] = p
	}
	return full
}

// earlierNodes returns the nodes that were started on the transport before.
func (c *Config) earlierNodes() []Peer {
	var peers []Peer
	for id := range c.Transport.Nodes().All() {
		if id != c.ID && len(peers) < c.MaxPeers {
			peers = append(peers, Peer{ID: id})
		}
	}
	return c.withPeerAddrs(peers)
}

// checkLiteral checks an address for a transport.
func checkLiteral(addr string) error {
	a, err := netip.ParseAddrPort(addr)
	if err != nil || a.Addr().IsUnspecified() {
		return fmt.Errorf("%q: with a Transport, only an IP address with a port will do", addr)
	}
	return nil
}
