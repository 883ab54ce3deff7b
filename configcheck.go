package failaware

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/clocksync/clockbound"
	"github.com/failaware/failaware/clocksync/reference"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/timed"
)

// Limits of the configuration.
const (
	maxEventBuffer = 1 << 20
	maxGroup       = 255    // bytes
	maxMaxPacket   = 65_000 // bytes
)

// faults gathers the errors of a configuration.
type faults []error

func (f *faults) add(format string, args ...any) { *f = append(*f, fmt.Errorf(format, args...)) }

// addFields adds the error about a struct's fields, or the joined ones, each named with the struct.
func (f *faults) addFields(prefix string, err error) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, err := range joined.Unwrap() {
			f.addFields(prefix, err)
		}
	} else if err != nil {
		f.add("%s%s", prefix, strings.TrimPrefix(err.Error(), "broadcast: "))
	}
}

// Validate returns the bounds that the settings guarantee. Its error joins one
// error for every setting that is wrong, named as its field, or the peer. Validate
// looks up no names and touches no files.
func (c Config) Validate() (Bounds, error) {
	c = c.WithDefaults()
	var errs faults
	errs = append(errs, c.checkID()...)
	errs = append(errs, c.checkLabels()...)
	if err := wire.CheckText(c.Group, maxGroup); err != nil {
		errs.add("Group: %w", err)
	}
	if err := wire.CheckText(c.FormerGroup, maxGroup); err != nil {
		errs.add("FormerGroup: %w", err)
	}
	if err := c.checkListen(); err != nil {
		errs.add("Listen: %w", err)
	}
	errs = append(errs, c.checkPeers(c.Peers)...)
	errs = append(errs, c.checkJoin()...)
	bounds, err := c.Timing.Validate()
	errs.addFields("Timing.", err)
	if c.Logger != nil && c.LogHandler != nil {
		errs.add("LogHandler: there is a Logger too")
	}
	if c.Timing.MaxDrift == 0 {
		errs.add("Timing.MaxDrift: no clock keeps a drift bound of 0, and every promise rests on the bound")
	}
	errs = append(errs, c.checkElection()...)
	errs = append(errs, c.Clock.check()...)
	errs = append(errs, c.checkOutputs()...)
	errs = append(errs, c.checkReferences()...)
	if c.EventBuffer < 1 || c.EventBuffer > maxEventBuffer {
		errs.add("EventBuffer: %d is outside [1, %d]", c.EventBuffer, maxEventBuffer)
	}
	if c.MaxPacket < wire.MaxPacket || c.MaxPacket > maxMaxPacket {
		errs.add("MaxPacket: %d is outside [%d, %d]", c.MaxPacket, wire.MaxPacket, maxMaxPacket)
	}
	if c.Broadcast != nil {
		errs = append(errs, c.Broadcast.check(c.Quorum != nil || c.JoinQuorum)...)
	}
	if len(errs) > 0 {
		return Bounds{}, errors.Join(errs...)
	}
	return bounds, nil
}

// checkElection checks the settings of elections.
func (c *Config) checkElection() (errs faults) {
	if c.Mode > leader.Strict {
		errs.add("Mode: %d is neither Available nor Strict", c.Mode)
	}
	if c.RankBy > leader.ByID {
		errs.add("RankBy: %d is neither Stable nor ByID", c.RankBy)
	}
	if err := c.collation().Validate(); err != nil {
		errs = append(errs, err)
	}
	if c.Quorum == nil && c.QuorumEpoch != 0 {
		errs.add("QuorumEpoch: %d without a Quorum", c.QuorumEpoch)
	}
	if c.JoinQuorum && (c.Quorum != nil || c.StateDir == "") {
		errs.add("JoinQuorum: needs a StateDir, and no Quorum")
	}
	return errs
}

// checkListen checks the local address. A transport chooses it if it is empty.
func (c *Config) checkListen() error {
	if c.Transport == nil {
		return checkAddr(c.Listen, true, c.remote())
	}
	if c.Listen == "" {
		return nil
	}
	if err := checkLiteral(c.Listen); err != nil {
		return err
	}
	return checkAddr(c.Listen, false, c.remote())
}

// checkPeer checks where a peer is to be found.
func (c *Config) checkPeer(p Peer) error {
	if c.Transport != nil {
		if p.Addr == "" {
			return errors.New("an id from 1 to 255 or an address is needed")
		}
		if err := checkLiteral(p.Addr); err != nil {
			return err
		}
	}
	return checkAddr(p.Addr, false, c.remote())
}

// checkPeers checks a list of peers for this node.
func (c Config) checkPeers(peers []Peer) (errs faults) {
	if c.MaxPeers < 1 || c.MaxPeers > DefaultMaxPeers {
		errs.add("MaxPeers: %d is outside [1, %d]", c.MaxPeers, DefaultMaxPeers)
	}
	others := 0
	ids, addrs := map[NodeID]int{}, map[string]int{}
	for i, p := range peers {
		name := fmt.Sprintf("Peers[%d] (node %v, %q)", i, p.ID, p.Addr)
		if p.ID == NoNode {
			name = fmt.Sprintf("Peers[%d] (%q)", i, p.Addr)
		}
		if err := c.checkPeer(p); err != nil {
			errs.add("%s: %w", name, err)
		}
		if p.ID == c.ID && c.ID != NoNode {
			if err := c.checkOwnEntry(p.Addr); err != nil {
				errs.add("%s: %w", name, err)
			}
		}
		if j, again := ids[p.ID]; again && p.ID != NoNode {
			errs.add("%s: Peers[%d] has the same id", name, j)
		}
		if j, again := addrs[p.Addr]; again {
			errs.add("%s: Peers[%d] has the same address", name, j)
		}
		ids[p.ID], addrs[p.Addr] = i, i
		if p.ID != c.ID || c.ID == NoNode {
			others++
		}
	}
	if others > c.MaxPeers {
		errs.add("Peers: %d are more than MaxPeers = %d", others, c.MaxPeers)
	}
	return errs
}

// collation returns when and how replies are collated.
func (c *Config) collation() leader.Collation {
	return leader.Collation{Above: c.CollateAbove, Fanout: c.CollateFanout}
}

func (c ClockConfig) check() (errs faults) {
	if c.MaxDeviation < 0 || c.MaxDeviation > timed.MaxDuration {
		errs.add("Clock.MaxDeviation: %v is outside (0, %v]", c.MaxDeviation, timed.MaxDuration)
	}
	if c.MaxSlew < 0 || c.MaxSlew > clocksync.MaxSlewLimit {
		errs.add("Clock.MaxSlew: %d ppb is outside (0, %d]", c.MaxSlew, clocksync.MaxSlewLimit)
	}
	if c.StepThreshold < 0 || c.StepThreshold > timed.MaxDuration {
		errs.add("Clock.StepThreshold: %v is outside (0, %v]", c.StepThreshold, timed.MaxDuration)
	}
	if c.MaxUTCError < 0 || c.MaxUTCError > timed.MaxDuration {
		errs.add("Clock.MaxUTCError: %v is outside (0, %v]", c.MaxUTCError, timed.MaxDuration)
	}
	if c.MinReferences < 1 || c.MinReferences > clocksync.MaxReferences {
		errs.add("Clock.MinReferences: %d is outside [1, %d]", c.MinReferences, clocksync.MaxReferences)
	}
	return errs
}

// checkReferences checks the references.
func (c *Config) checkReferences() (errs faults) {
	if len(c.References) > reference.MaxConfigs {
		errs.add("References: %d are more than %d", len(c.References), reference.MaxConfigs)
	}
	if c.Transport != nil && len(c.References) > 0 {
		errs.add("References: a node with a Transport cannot ask any")
	}
	names := map[string]int{}
	for i, r := range c.References {
		if err := r.Validate(); err != nil {
			errs.add("References[%d] (%s): %w", i, r.Name(), err)
		}
		if j, again := names[r.Name()]; again {
			errs.add("References[%d] (%s): References[%d] is the same", i, r.Name(), j)
		}
		names[r.Name()] = i
	}
	return errs
}

// checkAddr checks an address of the configuration without looking it up.
func checkAddr(addr string, local, remote bool) error {
	host, service, err := net.SplitHostPort(addr)
	if err != nil {
		if ip, err := netip.ParseAddr(addr[:max(strings.LastIndex(addr, ":"), 0)]); err == nil && ip.Is6() {
			return fmt.Errorf("%q is not host:port: an IPv6 address needs brackets, as in [::1]:7001", addr)
		}
		return fmt.Errorf("%q is not host:port, as in 127.0.0.1:7001", addr)
	}
	port, err := strconv.ParseUint(service, 10, 16)
	switch {
	case err != nil:
		return fmt.Errorf("%q: the port is not a number up to 65535", addr)
	case port == 0 && !local:
		return fmt.Errorf("%q: nobody listens at port 0", addr)
	case host == "" && !local:
		return fmt.Errorf("%q: the host is missing", addr)
	case !remote && !loopbackHost(host):
		return fmt.Errorf("%q is not a loopback address, and packets are not authenticated: only KeyFile or Insecure allows it", addr)
	}
	return nil
}

func loopbackHost(host string) bool {
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.IsLoopback()
	}
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	return name == "localhost" || strings.HasSuffix(name, ".localhost")
}

// checkOutputs checks how time is served to other programs.
func (c *Config) checkOutputs() (errs faults) {
	if n := c.NTP; n != nil {
		if err := checkAddr(n.Listen, true, true); err != nil {
			errs.add("NTP.Listen: %w", err)
		} else if !c.Insecure && !loopbackAddr(n.Listen) {
			errs.add("NTP.Listen: %q is not a loopback address, and its answers are not authenticated: only Insecure allows it", n.Listen)
		}
		if err := n.options(c.Group).Validate(); err != nil {
			errs.add("NTP: %w", err)
		}
		if c.Transport != nil {
			errs.add("NTP: with a Transport, the node's clock is not this machine's")
		}
	}
	if b := c.ClockBound; b != nil {
		if b.Path == "" {
			errs.add("ClockBound.Path: a path is needed")
		}
		if b.MaxSlew < 0 || b.MaxSlew > clockbound.MaxSlew {
			errs.add("ClockBound.MaxSlew: %d ppb is outside [0, %d]", b.MaxSlew, clockbound.MaxSlew)
		}
		if c.Transport != nil {
			errs.add("ClockBound: with a Transport, the node's clock is not this machine's")
		}
	}
	return errs
}

// checkLiteral checks an address for a transport.
func checkLiteral(addr string) error {
	a, err := netip.ParseAddrPort(addr)
	if err != nil || a.Addr().IsUnspecified() {
		return fmt.Errorf("%q: with a Transport, only an IP address with a port will do", addr)
	}
	return nil
}

// check names each error by its field.
func (b *BroadcastConfig) check(quorate bool) (errs faults) {
	errs.addFields("Broadcast.", b.machine(nil).Validate())
	if b.RequireQuorum && !quorate {
		errs.add("Broadcast.RequireQuorum: it needs a Quorum, or JoinQuorum")
	}
	return errs
}
