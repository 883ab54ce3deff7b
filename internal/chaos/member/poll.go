package member

import (
	"context"
	"fmt"
	"time"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/internal/chaos/oracle"
	"github.com/failaware/failaware/replicate"
)

// pollEvery is the time between two polls.
const pollEvery = time.Millisecond

// asker polls one node.
type asker struct {
	group                             string
	node                              *failaware.Node
	lead, follow, global, view, clock claim
	epoch                             uint64           // the last one logged
	known                             failaware.ViewID // likewise
	self                              failaware.NodeID
}

func newAsker(l *log, group string, n *failaware.Node) *asker {
	c := claim{log: l}
	return &asker{group: group, node: n, lead: c, follow: c, global: c, view: c, clock: c, self: n.ID()}
}

// poll polls both nodes.
func (m *member) poll(ctx context.Context) {
	a, b := newAsker(m.log, GroupA, m.a), newAsker(m.log, GroupB, m.b)
	var told Status
	for ctx.Err() == nil {
		s := Status{}
		s.Global[0], _ = a.ask()
		s.Global[1], s.Leader = b.ask()
		s.ViewA, s.SizeA = a.view.key, len(a.view.latest.Set)
		s.ViewB, s.SizeB = b.view.key, len(b.view.latest.Set)
		s.Epochs = [2]uint64{a.epoch, b.epoch}
		s.Working = m.store.Progress().Situation == replicate.Working
		if s != told {
			told = s
			m.print(Report{Status: &s})
		}
		before := Now()
		time.Sleep(pollEvery)
		if late := Now() - before - int64(pollEvery); late > m.late.Load() {
			m.late.Store(late)
		}
	}
}

// ask asks a node everything, and returns the global leader and the leader.
func (k *asker) ask() (global int, leader string) {
	leader = k.askLeader()
	global = k.askGlobal()
	k.askView()
	k.askClock()
	k.askEpoch()
	return global, leader
}

func (k *asker) askLeader() (leader string) {
	r := oracle.Record{Group: k.group, From: Now()}
	a := k.node.Leader()
	r.To, r.AtMost = Now(), int64(a.AtMost)
	leads, follows := "", ""
	lead, follow := r, r
	switch {
	case a.Leads:
		lead.Kind, lead.Boot, lead.Since, lead.Set = oracle.Lead, uint64(a.Boot), int64(a.Since), members(a.Support)
		leads = fmt.Sprint(a.Boot, a.Since, a.Support)
	case a.UpToDate:
		follow.Kind, follow.Leader = oracle.Follow, incarnation(a.Leader, a.Boot)
		follows = follow.Leader
	}
	k.lead.note(leads, lead)
	k.follow.note(follows, follow)
	if a.Leads || a.UpToDate {
		leader = incarnation(a.Leader, a.Boot)
	}
	return leader
}

func (k *asker) askGlobal() int {
	r := oracle.Record{Kind: oracle.Global, Group: k.group, From: Now()}
	a := k.node.GlobalLeader()
	r.To, r.AtMost, r.Boot, r.Since = Now(), int64(a.AtMost), uint64(a.Boot), int64(a.Since)
	key := ""
	if a.Leads {
		key = fmt.Sprint(a.Boot, a.Since)
	}
	k.global.note(key, r)
	return int(a.Leader)
}

func (k *asker) askView() {
	r := oracle.Record{Kind: oracle.View, Group: k.group, From: Now()}
	a := k.node.View()
	r.To, r.AtMost = Now(), int64(a.AtMost)
	key := ""
	if a.UpToDate {
		r.View, r.Set = a.View.ID.String(), members(a.View.Set)
		key = r.View
	}
	k.view.note(key, r)
	if a.View.ID != k.known {
		k.known = a.View.ID
		if !k.known.None() { // it is, when a new incarnation begins
			k.view.log.write(installed(k.group, k.self, a.View))
		}
	}
}

func (k *asker) askEpoch() {
	r := oracle.Record{Kind: oracle.Epoch, Group: k.group, From: Now()}
	if a := k.node.Epoch(); a.Epoch != k.epoch {
		k.epoch = a.Epoch
		r.To, r.Epoch, r.Text = Now(), a.Epoch, a.System
		k.view.log.write(r)
	}
}

func (k *asker) askClock() {
	r := oracle.Record{Kind: oracle.Clock, Group: k.group, From: Now()}
	a := k.node.Clock()
	r.To, r.Time, r.Deviation = Now(), int64(a.Time), int64(a.Deviation)
	key := ""
	if a.Deviation != clocksync.UnknownBound && !a.Timeline.None() {
		r.Timeline = fmt.Sprint(a.Timeline.Leader, "/", a.Timeline.Boot, "/", a.Timeline.Sequence)
		key = r.Timeline
	}
	k.clock.note(key, r)
}

// installed returns the record of a view.
func installed(group string, self failaware.NodeID, v *failaware.View) oracle.Record {
	now := Now()
	r := oracle.Record{Kind: oracle.Installed, Group: group, From: now, To: now, View: v.ID.String(), Sequence: v.ID.Sequence}
	for _, m := range v.Members {
		r.Members = append(r.Members, incarnation(m.Node, m.Boot)+" from "+m.Previous.String())
		if m.Node == self {
			r.Boot = uint64(m.Boot)
		}
	}
	return r
}

func incarnation(id failaware.NodeID, boot failaware.BootID) string {
	return fmt.Sprintf("%d/%016x", id, uint64(boot))
}

func members(s failaware.Set) (list []int) {
	for id := range s.All() {
		list = append(list, int(id))
	}
	return list
}
