package join

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"
)

// Limits of what is taken from a multicast group. Anybody on the network can send to it,
// and all nodes of a group hear the same packet.
const (
	maxHello  = 1 << 11               // bytes of a packet
	helloRate = 20 * time.Millisecond // between two packets at least, on average
	helloRoom = 32                    // packets at once
)

// Listen hands the packets that come to the multicast groups of the sources to take, with
// their source addresses, until stop is closed. The bytes are take's. The error names the
// source.
func Listen(sources []Source, local netip.AddrPort, stop <-chan struct{}, take func(b []byte, from netip.AddrPort)) error {
	var conns []*net.UDPConn
	for _, s := range sources {
		if s.Kind != Multicast {
			continue
		}
		c, err := listen(s.Addr, local.Addr())
		if err != nil {
			for _, c := range conns {
				_ = c.Close()
			}
			return fmt.Errorf("%q: %w", s.Text, err)
		}
		conns = append(conns, c)
	}
	for _, c := range conns {
		go func() {
			<-stop
			_ = c.Close()
		}()
		go receive(c, take)
	}
	return nil
}

// listen joins a multicast group on the interface that has the node's own address, or on
// the one that the system chooses.
func listen(group netip.AddrPort, local netip.Addr) (*net.UDPConn, error) {
	var on *net.Interface
	if !local.IsUnspecified() {
		var err error
		if on, err = interfaceOf(local); err != nil {
			return nil, err
		}
	}
	return net.ListenMulticastUDP("udp4", on, net.UDPAddrFromAddrPort(group))
}

func interfaceOf(local netip.Addr) (*net.Interface, error) {
	all, err := net.Interfaces()
	if err != nil {
		return nil, err
	}
	for i := range all {
		addrs, err := all[i].Addrs()
		if err != nil {
			continue
		}
		for _, a := range addrs {
			if p, err := netip.ParsePrefix(a.String()); err == nil && (p.Addr() == local || local.IsLoopback() && p.Addr().IsLoopback()) {
				return &all[i], nil
			}
		}
	}
	return nil, fmt.Errorf("no interface has the address %v", local)
}

// receive reads packets until the socket is closed. Packets beyond the limits wait in the
// socket's buffer, which drops what it cannot hold.
func receive(c *net.UDPConn, take func(b []byte, from netip.AddrPort)) {
	room, last := helloRoom, time.Now()
	for {
		b := make([]byte, maxHello)
		n, from, err := c.ReadFromUDPAddrPort(b)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err == nil {
			take(b[:n], netip.AddrPortFrom(from.Addr().Unmap(), from.Port()))
		}
		earned := int(time.Since(last) / helloRate)
		room, last = min(room+earned, helloRoom)-1, last.Add(time.Duration(earned)*helloRate)
		if room <= 0 {
			time.Sleep(helloRate)
		}
	}
}
