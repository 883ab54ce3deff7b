package failaware

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"net/netip"

	"github.com/failaware/failaware/internal/transport"
	"github.com/failaware/failaware/internal/udp"
)

// Transport carries the packets of a node, and is its hardware clock, in place
// of UDP sockets and the clock of this machine. Package sim/memory makes
// transports for tests. The type is opaque because every promise of a node rests
// on what its transport says of time.
//
// With a transport, nodes find each other by their ids: [Config.Listen] and
// [Peer.Addr] may be empty, and a nil [Config.Peers] stands for the nodes that
// were started on the transport before. Where an address is given, it must be an
// IP address with a port, because no names are looked up.
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

// checkLiteral checks an address that a transport is to understand.
func checkLiteral(addr string) error {
	a, err := netip.ParseAddrPort(addr)
	if err != nil || a.Addr().IsUnspecified() {
		return fmt.Errorf("%q: with a Transport, only an IP address with a port will do", addr)
	}
	return nil
}

// open gets the node its end of the network, its hardware clock, and a source of
// boot ids.
func (n *Node) open() (err error) {
	if n.cfg.Transport == nil {
		if n.clock, err = machineClock(); err != nil {
			return err
		}
		n.random = systemRandom
		conn, err := udp.Listen(n.cfg.Listen, n.clock, n.cfg.socket())
		if err != nil {
			return err
		}
		n.conn = conn
		return nil
	}
	r := transport.Request{ID: n.cfg.ID, Timing: n.cfg.Timing, MaxPacket: n.cfg.largestPacket(), Ending: n.closing.Load}
	if n.cfg.Listen != "" {
		r.Listen = netip.MustParseAddrPort(n.cfg.Listen) // Validate has parsed it
	}
	e, err := n.cfg.Transport.Open(r)
	if err != nil {
		return fmt.Errorf("failaware: the transport: %w", err)
	}
	n.conn, n.clock, n.random = e.Conn, e.Clock, e.Random
	return nil
}

// socket returns the choices for the node's socket.
func (c *Config) socket() (o udp.Options) {
	o.MaxPacket = c.largestPacket()
	if c.Broadcast != nil {
		o.ReceiveBuffer = castReceive
	}
	return o
}

func systemRandom() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // it never fails
	return binary.BigEndian.Uint64(b[:])
}
