package failaware

import (
	"net/netip"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/clocksync/clockbound"
	"github.com/failaware/failaware/clocksync/serve"
	"github.com/failaware/failaware/internal/outputs"
)

// outputs returns how time is served to other programs.
func (c *Config) outputs() (o outputs.Config) {
	if n := c.NTP; n != nil {
		o.Listen, o.NTP = n.Listen, n.options(c.Group)
	}
	if b := c.ClockBound; b != nil {
		o.Path, o.Bound = b.Path, clockbound.Options{Drift: c.Timing.MaxDrift, Slew: b.MaxSlew}
	}
	return o
}

// utc is the answer that other programs get.
func (n *Node) utc() serve.Answer {
	r := n.Clock()
	return serve.Answer{Time: r.Time, Bound: r.UTCBound, External: r.Status == clocksync.External, Leap: r.Leap}
}

// NTPAddr returns the address of the node's NTP server, which is not valid if it
// has none.
func (n *Node) NTPAddr() netip.AddrPort { return n.outputs.Addr() }

// NTPStats returns the counts of the node's NTP server; ok is false if it has none.
func (n *Node) NTPStats() (s NTPStats, ok bool) {
	if ntp := n.outputs.NTP(); ntp != nil {
		return ntp.Stats(), true
	}
	return s, false
}
