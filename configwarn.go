package failaware

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/internal/trust"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/timed"
)

// Warnings describes, for people, settings that are probably a mistake although a node can
// run with them. [Start] writes the warnings to the log.
func (c Config) Warnings() (list []string) {
	c = c.WithDefaults()
	for i, p := range c.Peers {
		if p.ID == c.ID && c.ID != NoNode && c.elsewhere(p.Addr) {
			list = append(list, fmt.Sprintf("Peers[%d]: this node, %v, is listed at %s and listens at %s: "+
				"if no address translation lies between, the entry is old, or another node was meant to have this id", i, c.ID, p.Addr, c.Listen))
		}
	}
	if w := c.listenWarning(); w != "" {
		list = append(list, w)
	}
	if w := c.packetWarning(); w != "" {
		list = append(list, w)
	}
	if w := c.viewWarning(); w != "" {
		list = append(list, w)
	}
	if w := c.quorumWarning(); w != "" {
		list = append(list, w)
	}
	if w := c.stateWarning(); w != "" {
		list = append(list, w)
	}
	if least := clocksync.LeastSlew(c.Timing.MaxDrift); c.Clock.MaxSlew < least {
		list = append(list, fmt.Sprintf("Clock.MaxSlew: clocks may run apart by 2·MaxDrift = %d ppb, and are corrected by %d ppb at most: "+
			"deviations can grow without end", least, c.Clock.MaxSlew))
	}
	return list
}

// elsewhere reports whether an address is surely not the one that the node listens at.
func (c *Config) elsewhere(addr string) bool {
	if c.Transport != nil {
		return false
	}
	host, port, err := net.SplitHostPort(addr)
	listenHost, listenPort, listenErr := net.SplitHostPort(c.Listen)
	if err != nil || listenErr != nil || listenPort == "0" {
		return false // another check says so, or the system chooses the port
	}
	ip, err := netip.ParseAddr(host)
	listenIP, listenErr := netip.ParseAddr(listenHost)
	differ := err == nil && listenErr == nil && !listenIP.IsUnspecified() && ip.Unmap() != listenIP.Unmap()
	return differ || port != listenPort
}

// checkOwnEntry checks an entry of the list of peers with this node's own id. It counts
// as wrong only on the loopback interface, where no address is translated.
func (c *Config) checkOwnEntry(addr string) error {
	if !c.elsewhere(addr) || !loopbackAddr(addr) || !loopbackAddr(c.Listen) {
		return nil
	}
	return fmt.Errorf("this node has this id, and listens at %s", c.Listen)
}

func loopbackAddr(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	return err == nil && loopbackHost(host)
}

// listenWarning says that the node is to find others where it cannot reach them from its address.
// Names may lead anywhere.
func (c *Config) listenWarning() string {
	if c.Transport != nil {
		return ""
	}
	for _, p := range c.Peers {
		if w := c.unreachable("Peers", p.Addr); w != "" && (p.ID != c.ID || p.ID == NoNode) {
			return w
		}
	}
	for _, addr := range c.Join {
		if w := c.unreachable("Join", addr); w != "" {
			return w
		}
	}
	return ""
}

// unreachable says why the node cannot send to an address of a setting, or is empty.
func (c *Config) unreachable(setting, addr string) string {
	to, err := netip.ParseAddrPort(addr)
	if err != nil || to.Addr().IsUnspecified() {
		return ""
	}
	if loopbackAddr(c.Listen) && !to.Addr().Unmap().IsLoopback() {
		return fmt.Sprintf("Listen: the node listens at %s, the loopback interface, from which it cannot reach %s of %s, nor be reached: "+
			"it needs an address of the network", c.Listen, addr, setting)
	}
	from, err := netip.ParseAddrPort(c.Listen)
	bound := err == nil && !from.Addr().IsUnspecified()
	if bound && setting == "Peers" && from.Addr().Unmap().Is4() != to.Addr().Unmap().Is4() { // seeds may be of both families
		return fmt.Sprintf("Listen: the node listens at %s, from which it cannot reach %s of %s: "+
			"both need addresses of IPv4, or both of IPv6", c.Listen, addr, setting)
	}
	return ""
}

// viewWarning says that a view of all peers may not fit in a packet.
func (c *Config) viewWarning() string {
	n := len(c.Peers) + 1
	if n <= wire.Usual || c.MaxPacket >= wire.PacketFor(n) {
		return ""
	}
	return fmt.Sprintf("MaxPacket: a view of %d members may need packets of %d bytes, and does not form without: set it at all nodes, "+
		"where the MTU carries it; %d bytes are enough for %d members", n, wire.PacketFor(n), wire.MaxPacket, wire.Usual)
}

// packetWarning names an interface of this machine that is too narrow for the largest packets.
// Where a packet is larger than the rest of its way takes, only its loss tells.
func (c *Config) packetWarning() string {
	if c.Transport != nil || loopbackAddr(c.Listen) {
		return ""
	}
	all, err := net.Interfaces()
	if err != nil {
		return ""
	}
	host, _, _ := net.SplitHostPort(c.Listen)
	ip, _ := netip.ParseAddr(host)
	headers := headersFor(ip)
	for _, i := range all {
		if i.Flags&net.FlagUp == 0 || i.Flags&net.FlagLoopback != 0 || i.MTU >= c.MaxPacket+headers || !hasAddr(&i, ip) {
			continue
		}
		remedy := "set a lower MaxPacket, the same at all nodes, or a larger MTU"
		if i.MTU-headers < wire.MaxPacket {
			remedy = fmt.Sprintf("set an MTU of at least %d", wire.MaxPacket+headers)
		}
		return fmt.Sprintf("MaxPacket: the interface %s, whose MTU is %d, takes no packets of more than %d bytes: %s", i.Name, i.MTU, i.MTU-headers, remedy)
	}
	return ""
}

// headersFor returns the bytes of the headers of IP and UDP for a socket at an address. An
// unspecified one takes IPv4 too.
func headersFor(ip netip.Addr) int {
	if ip.Is6() && !ip.Is4In6() && !ip.IsUnspecified() {
		return 40 + 8
	}
	return 20 + 8
}

// hasAddr reports whether an interface has an address; every one counts as having an unspecified
// one, or none.
func hasAddr(i *net.Interface, ip netip.Addr) bool {
	if !ip.IsValid() || ip.IsUnspecified() {
		return true
	}
	list, _ := i.Addrs()
	return slices.ContainsFunc(list, func(a net.Addr) bool {
		p, err := netip.ParsePrefix(a.String())
		return err == nil && p.Addr() == ip.Unmap().WithZone("")
	})
}

// stateWarning says that other users can replace files of the state directory. An older
// file would have the node forget its latest votes, and contradict them.
func (c *Config) stateWarning() string {
	if c.StateDir == "" {
		return ""
	}
	if err := trust.Dir(c.StateDir); errors.Is(err, trust.ErrUntrusted) {
		return fmt.Sprintf("StateDir: %v: it could replace files, and the node would no longer keep its votes", err)
	}
	return ""
}

// quorumWarning says that this node and its listed peers cannot elect a global leader. That
// is not an error, because they can once they have learnt of others.
func (c *Config) quorumWarning() string {
	if c.Quorum == nil || len(c.Join) > 0 {
		return ""
	}
	known := timed.SetOf(c.ID)
	for _, p := range c.Peers {
		if !p.ID.Valid() {
			return "" // it may be anybody
		}
		known.Add(p.ID)
	}
	switch {
	case known.Intersect(c.Quorum.Members()).Empty():
		return fmt.Sprintf("Quorum: neither this node nor a listed peer is a member of %v", c.Quorum)
	case len(c.Peers) > 0 && !c.Quorum.IsQuorum(known):
		return fmt.Sprintf("Quorum: this node and the listed peers, %v, are no quorum of %v", known, c.Quorum)
	}
	return ""
}
