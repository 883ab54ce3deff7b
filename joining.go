package failaware

import (
	"cmp"
	"fmt"
	"net"
	"net/netip"
	"slices"

	"github.com/failaware/failaware/internal/durable"
	"github.com/failaware/failaware/internal/join"
)

// JoinStatus is the outcome of one entry of [Config.Join] so far.
type JoinStatus struct {
	Source    string           // as configured
	Addresses []netip.AddrPort // at which there may be members
	Problem   string           // why there are none, or not all of them; else empty
	Self      bool             // they are only this node's own: the first of a group names itself
	// Unsent says why packets to one of them cannot be sent, if the system refuses them.
	Unsent string
}

// checkJoin checks where members are to be found, without looking.
func (c *Config) checkJoin() (errs faults) {
	if len(c.Join) > join.MaxSources {
		errs.add("Join: %d are more than %d", len(c.Join), join.MaxSources)
	}
	for i, text := range c.Join {
		name := fmt.Sprintf("Join[%d] (%q)", i, text)
		s, err := join.Parse(text)
		if err == nil {
			err = c.checkSource(&s)
		}
		if err != nil {
			errs.add("%s: %w", name, err)
		}
		if j := slices.Index(c.Join, text); j < i {
			errs.add("%s: Join[%d] is the same", name, j)
		}
	}
	return errs
}

// checkSource checks whether this node can use a source.
func (c *Config) checkSource(s *join.Source) error {
	const only = "packets are not authenticated: only KeyFile or Insecure allows it"
	switch {
	case c.Transport != nil && s.Kind != join.Address:
		return fmt.Errorf("%q: with a Transport, only an IP address with a port will do", s.Text)
	case s.Kind == join.Multicast && c.remote() && c.listensIPv6():
		return fmt.Errorf("%q: the group is of IPv4, and this node listens at %s", s.Text, c.Listen)
	case c.remote():
	case (s.Kind == join.Address || s.Kind == join.Name) && !loopbackHost(s.Host):
		return fmt.Errorf("%q is not a loopback address, and %s", s.Text, only)
	case s.Kind == join.Service || s.Kind == join.Multicast:
		return fmt.Errorf("%q leads to other machines, and %s", s.Text, only)
	}
	return nil
}

// listensIPv6 reports whether the node's socket is of IPv6 only.
func (c *Config) listensIPv6() bool {
	host, _, err := net.SplitHostPort(c.Listen)
	ip, parsed := netip.ParseAddr(host)
	return err == nil && parsed == nil && ip.Unmap().Is6() && !ip.IsUnspecified()
}

// joinSources returns the sources of a valid configuration.
func (c *Config) joinSources() (list []join.Source) {
	for _, text := range c.Join {
		s, _ := join.Parse(text) // Validate has parsed it
		s.Path = durable.Abs(s.Path)
		list = append(list, s)
	}
	return list
}

// newFinder returns the finder of candidates, or nil if there is nowhere to look.
func (n *Node) newFinder() *join.Finder {
	known := n.readMembers()
	if len(n.cfg.Join) == 0 && len(known) == 0 {
		return nil
	}
	return join.New(join.Options{Local: n.conn.LocalAddr(), Known: known, Remote: n.cfg.remote(), Log: n.logLater,
		Alive: func() Set { return n.loop.Snapshot().Alive }, Changed: n.conn.Wake}, n.cfg.joinSources())
}

// joinStatus returns the outcomes of the sources so far.
func (n *Node) joinStatus() (list []JoinStatus) {
	if found := n.finder.Found(); found != nil {
		for _, s := range found.Sources {
			j := JoinStatus{Source: s.Source, Addresses: s.Addrs, Problem: s.Problem, Self: n.onlySelf(s.Addrs)}
			for _, a := range s.Addrs {
				j.Unsent = cmp.Or(j.Unsent, n.unsentTo(a))
			}
			list = append(list, j)
		}
	}
	return list
}

// onlySelf reports whether there are addresses, and all are this node's own.
func (n *Node) onlySelf(addrs []netip.AddrPort) bool {
	own := n.conn.LocalAddr()
	return len(addrs) > 0 && !slices.ContainsFunc(addrs, func(a netip.AddrPort) bool {
		return a != own && (a.Port() != own.Port() || !own.Addr().IsUnspecified() || !ofThisMachine(a.Addr()))
	})
}

// ofThisMachine reports whether an interface of this machine has an address.
func ofThisMachine(ip netip.Addr) bool {
	list, _ := net.InterfaceAddrs()
	return ip.IsLoopback() || slices.ContainsFunc(list, func(a net.Addr) bool {
		p, err := netip.ParsePrefix(a.String())
		return err == nil && p.Addr() == ip.WithZone("")
	})
}
