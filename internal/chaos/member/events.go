package member

import (
	"context"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/event"
	"github.com/failaware/failaware/internal/chaos/oracle"
	"github.com/failaware/failaware/replicate"
)

// events logs the events of a node that must not happen: all nodes share one clock, have the
// same settings, and are started once.
func (m *member) events(ctx context.Context, group string, n *failaware.Node) {
	for e := range n.EventsSince(ctx, 0) {
		switch e := e.(type) {
		case event.Mismatch, event.Inconsistent, event.ClockFault, event.PeerCloned, event.PeerDuplicated, event.PacketUnsent:
			m.report(group, e.Kind()+": "+e.String())
		case event.Restarted:
			if e.Reason != event.Overrun && e.Reason != event.LateState && (group != GroupA || e.Reason != event.NewEpoch) {
				m.report(group, e.Kind()+": "+e.String())
			}
		}
	}
}

func (m *member) report(group, text string) {
	now := Now()
	m.log.write(oracle.Record{Kind: oracle.Event, Group: group, From: now, To: now, Text: text})
}

// stateEvent logs the events of the registers that must not happen: a quorum always has its
// disks.
func (m *member) stateEvent(e replicate.Event) {
	switch e := e.(type) {
	case replicate.Begun:
		if !e.Remember.Empty() {
			m.report(GroupA, e.String())
		}
	case replicate.RolledBack:
		r := oracle.Record{Kind: oracle.RolledBack, Group: GroupA, From: Now()}
		for id := range e.Members.All() {
			r.Set = append(r.Set, int(id))
		}
		r.To = Now()
		m.log.write(r)
	case replicate.Diverged, replicate.Corrupt:
		m.report(GroupA, e.String())
	}
}
