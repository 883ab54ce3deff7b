package failaware

import (
	"errors"
	"fmt"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/timed"
)

// Limits of the configuration.
const (
	maxEventBuffer = 1 << 20
	maxName        = 255    // bytes
	maxMaxPacket   = 65_000 // bytes
)

// faults gathers the errors of a configuration.
type faults []error

func (f *faults) add(format string, args ...any) { *f = append(*f, fmt.Errorf(format, args...)) }

// Validate returns the bounds that the settings guarantee. Its error joins one
// error for every setting that is wrong, named as its field, or the peer. Validate
// looks up no names and touches no files.
func (c Config) Validate() (Bounds, error) {
	c = c.WithDefaults()
	var errs faults
	if !c.ID.Valid() {
		errs.add("ID: a node id from 1 to %d is needed", timed.MaxNodes)
	}
	if len(c.Name) > maxName {
		errs.add("Name: %d bytes are more than %d", len(c.Name), maxName)
	}
	if len(c.Group) > maxName {
		errs.add("Group: %d bytes are more than %d", len(c.Group), maxName)
	}
	if err := c.checkListen(); err != nil {
		errs.add("Listen: %w", err)
	}
	errs = append(errs, c.checkPeers(c.Peers)...)
	bounds, err := c.Timing.Validate()
	if err != nil {
		errs.add("Timing: %w", err)
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
		errs = append(errs, c.Broadcast.check()...)
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
		return checkAddr(c.Listen, true, c.Insecure)
	}
	if c.Listen == "" {
		return nil
	}
	if err := checkLiteral(c.Listen); err != nil {
		return err
	}
	return checkAddr(c.Listen, false, c.Insecure)
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
	return checkAddr(p.Addr, false, c.Insecure)
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
		if j, again := ids[p.ID]; again && p.ID != NoNode {
			errs.add("%s: Peers[%d] has the same id", name, j)
		}
		if j, again := addrs[p.Addr]; again {
			errs.add("%s: Peers[%d] has the same address", name, j)
		}
		ids[p.ID], addrs[p.Addr] = i, i
		if p.ID != c.ID {
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
