package loop

import (
	"fmt"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/leader/epoch"
	"github.com/failaware/failaware/timed"
)

// resign is the command of [Loop.Resign].
func (d *driver) resign(to timed.NodeID, reply func(error)) {
	now := d.clock.now
	if d.stack == nil || !d.stack.Leads(now) {
		reply(ErrNotLeader)
		return
	}
	switch {
	case to == timed.NoNode:
		d.perform(d.stack.Resign(now, d.effects[:0]))
	case !d.routes.known.Has(to):
		reply(ErrUnknownPeer)
		return
	default:
		d.perform(d.stack.HandOver(now, to, d.effects[:0]))
	}
	d.report.after(func() { reply(nil) })
}

// Hold is a promise that no other node leads before Until.
type Hold struct {
	By    timed.Incarnation
	Since timed.Instant // the beginning of the lead
	Until timed.Instant
	Basis Basis
}

// Basis is the condition of a promise's times: they hold on this node's hardware clock, in
// one era, while the clock is trusted.
type Basis struct {
	Made  timed.Instant // when the promise was made
	Era   uint32
	Trust *Trust
}

func (d *driver) basis() Basis { return Basis{Made: d.clock.now, Era: d.clock.era, Trust: d.trust} }

// hold returns a hold, or nil if the node does not lead. It must be called after the
// state of the turn was published, so that the hold names the lead that readers
// know.
func (d *driver) hold(global bool) *Hold {
	s := d.pub.current
	phase, _ := s.Lease(global)
	if d.stack == nil || !phase.Leads {
		return nil
	}
	h := &Hold{By: s.Self, Since: phase.Since, Basis: d.basis()}
	a := d.stack.Vouch(d.clock.now)
	if h.Until = endOf(&a, global); h.Until == 0 {
		return nil
	}
	return h
}

// endOf returns the end of a hold: a global lead may end before the local one.
func endOf(a *leader.Assurance, global bool) timed.Instant {
	if global {
		return a.Global
	}
	return a.Local
}

// namedLeader is the command of [Loop.NamedLeader]. For this node, the stack knows
// the answer; for others, it stands in their last packets.
func (d *driver) namedLeader(id timed.NodeID, global bool) timed.NodeID {
	if d.stack == nil {
		return timed.NoNode
	}
	el := d.stack.Election()
	if id != d.cfg.Self.Node {
		return el.Peer(id).LockedTo.Node
	}
	if global {
		return d.stack.GlobalLeader(d.clock.now)
	}
	if to, _ := el.Locked(d.clock.now); to.Valid() {
		return to.Node
	}
	for peer := range d.pub.current.Alive.All() {
		if el.Peer(peer).Leading {
			return peer
		}
	}
	return timed.NoNode
}

// proposeQuorum is the command of [Loop.ProposeQuorum].
func (d *driver) proposeQuorum(in uint64, next string) error {
	if err := d.checkChange(next); err != nil {
		return err
	}
	if e := d.stack.Epoch(); e != nil && e.Epoch != in {
		return ErrNotLeader // the lead was in that epoch
	}
	return d.stack.Propose(d.clock.now, next)
}

// forceQuorum is the command of [Loop.ForceQuorum].
func (d *driver) forceQuorum(next string, dead timed.Set, reply func(error)) {
	if err := d.checkChange(next); err != nil {
		reply(err)
		return
	}
	if living := dead.Intersect(d.stack.Hears(d.clock.now)); !living.Empty() {
		reply(fmt.Errorf("%w: this node hears nodes %v; stop them first, for good", epoch.ErrAlive, living))
		return
	}
	effects, err := d.stack.Force(d.clock.now, next, dead, d.effects[:0])
	d.perform(effects)
	d.report.after(func() { reply(err) })
}

// checkChange returns an error if no change to another quorum system can begin.
func (d *driver) checkChange(next string) error {
	if d.stack == nil {
		return ErrNotLeader // a new incarnation is about to begin
	}
	if system, err := leader.ParseSystem(next); err == nil && system.Members().Intersect(d.running()).Empty() {
		return fmt.Errorf("%w: no member of %s is heard, and none could ever replace it", epoch.ErrSystem, next)
	}
	if e := d.cfg.Epochs; e != nil && e.System != "" {
		if err := wire.CheckChange(e.System, next, d.l.cfg.MaxPacket); err != nil {
			return fmt.Errorf("failaware: %w", err)
		}
	}
	return nil
}

// running returns this node and the peers that it hears.
func (d *driver) running() timed.Set {
	s := d.pub.current.Alive
	s.Add(d.cfg.Self.Node)
	return s
}

// handleSample hands a sample to the stack, unless the clock that measured it has
// slept since.
func (d *driver) handleSample(s *clocksync.Sample, era uint32) {
	if d.stack != nil && era == d.clock.era {
		d.perform(d.stack.HandleSample(d.clock.now, s, d.effects[:0]))
	}
}
