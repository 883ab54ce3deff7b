package replicated

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/replica"
	"github.com/failaware/failaware/internal/session"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/sim"
	"github.com/failaware/failaware/sim/fault"
	"github.com/failaware/failaware/timed"
)

// member is the replica and the application of one incarnation of a node.
type member struct {
	n         *sim.Node
	life      uint64 // of the process
	inc       timed.Incarnation
	replica   *replica.Replica
	quorum    quorum.System
	app       *state
	disk      *disk            // of the machine; nil if states are in memory only
	base      []broadcast.Mark // of the view that begins
	view      *membership.View
	calls     []replica.Effect // that wait for the application
	busy      bool             // the application is in a call
	sendQueue []replica.Effect
	sending   bool // a timer that empties the send queue runs
	alarm     sim.Timer
	ops       uint64

	inView []opID        // delivered in the view
	must   map[opID]bool // what the state must contain
	merged bool          // in the present view

	limited  bool              // it does not take any state
	declined membership.ViewID // of a state that it did not take
	misses   bool              // that is a merger

	told told

	process
	saidBehind timed.Set // the members of the view whose disks have gone back, as it says
	judged     bool      // what it has said in the view
	begun      bool      // it has said that too few members of the view remember
}

// blocksReused begins the messages that name blocks instead of sending them.
const blocksReused = 16

// runs reports whether the incarnation still runs.
func (m *member) runs() bool { return m.n.Up() && m.n.Incarnation() == m.inc }

// idle reports whether the replica is at work, and no call or message of it waits.
func (m *member) idle() bool {
	return m.replica.Current() && len(m.calls) == 0 && len(m.sendQueue) == 0
}

// own reports whether a delivery is of the member.
func (m *member) own(d *broadcast.Delivery) bool {
	return d.Sender == m.inc.Node && d.Boot == m.inc.Boot
}

// after calls do in a turn of the incarnation after a time, if it still runs.
func (m *member) after(d time.Duration, do func()) sim.Timer {
	return m.n.After(d, func() {
		if m.runs() {
			do()
		}
	})
}

// talk broadcasts operations and barriers at random times.
func (s *run) talk(m *member) {
	m.after(time.Duration(s.rand.Exponential()/s.load.pace*1e9), func() {
		if s.done {
			return
		}
		if s.opt.Loaded {
			s.flood(m)
		}
		for range s.rand.Between(1, 3) {
			s.operate(m)
		}
		if s.rand.Chance(0.2) {
			s.readBarrier(m)
		}
		s.readLeased(m)
		s.talk(m)
	})
}

// sleepTogether suspends all machines at random times, as a host does with its guests, so
// that all incarnations end at once. The first node's process draws the times.
func (s *run) sleepTogether(m *member) {
	if !s.load.shared || m.inc.Node != 1 {
		return
	}
	m.after(time.Duration(s.rand.Exponential()*float64(rage)/3), func() {
		if s.w.Time() > rage {
			return
		}
		for _, o := range s.members {
			f := fault.Fault{Kind: fault.Suspend, Node: o.inc.Node, For: time.Duration(s.rand.Between(5, 50)) * time.Millisecond}
			if s.w.Inject(f) == nil {
				s.w.Sometimes(Together)
			}
		}
		s.sleepTogether(m)
	})
}

// operate broadcasts one operation, if the replica accepts any. A full window is no
// failure.
func (s *run) operate(m *member) error {
	if !m.replica.Accepting() {
		return errNotAccepting
	}
	m.ops++
	op := binary.BigEndian.AppendUint64(nil, uint64(m.inc.Boot))
	op = binary.BigEndian.AppendUint64(op, m.ops)
	if s.opt.Sessions {
		op = append(op, s.request(opID(op))...)
	} else {
		op = append(op, make([]byte, s.rand.Below(s.load.padding))...)
	}
	_, err := m.n.Broadcast(replica.AppendOp(nil, op), s.load.mix[s.rand.Below(int64(len(s.load.mix)))])
	switch {
	case err == nil:
		s.w.Sometimes(Operated)
	case errors.Is(err, broadcast.ErrWindowFull):
		s.w.Sometimes(Filled)
	}
	return err
}

var errNotAccepting = errors.New("operations are not accepted")

// mostInWindow is how many operations fill a window at most.
const mostInWindow = 40

// flood broadcasts operations until the window is full.
func (s *run) flood(m *member) {
	for range mostInWindow {
		if s.operate(m) != nil {
			return
		}
	}
}

// cutShort ends the incarnation of a joiner at times while a state comes to it.
func (s *run) cutShort(m *member, e *replica.Event) {
	if !s.opt.Loaded || e.Bytes >= e.Total || s.w.Time() > rage || !s.rand.Chance(0.1) {
		return
	}
	f := fault.Fault{Kind: fault.Crash, Node: m.inc.Node, For: time.Duration(s.rand.Between(1, 300)) * time.Millisecond}
	if s.rand.Chance(0.5) {
		f.Kind = fault.Suspend
	}
	m.after(0, func() {
		if s.w.Inject(f) == nil {
			s.w.Sometimes(CutShort)
		}
	})
}

// unlist has a node forget a peer for a while, now and then. The first node's process draws
// the times.
func (s *run) unlist(m *member) {
	if !s.opt.Loaded || m.inc.Node != 1 {
		return
	}
	m.after(time.Duration(s.rand.Exponential()*float64(rage)/6), func() {
		if s.w.Time() > rage {
			return
		}
		f := fault.Fault{Kind: fault.Unlist, Node: timed.NodeID(s.rand.Between(1, int64(s.load.nodes))),
			For: time.Duration(s.rand.Between(5, 500)) * time.Millisecond}
		f.Peer = f.Node%timed.NodeID(s.load.nodes) + 1
		_ = s.w.Inject(f) // without a peer it says so
		s.unlist(m)
	})
}

// readBarrier broadcasts a barrier, as a reader of the latest state does.
func (s *run) readBarrier(m *member) {
	if !m.replica.Accepting() {
		return
	}
	id, err := m.n.Broadcast(replica.AppendBarrier(nil), broadcast.Options{Order: broadcast.TotalOrder, Atomicity: broadcast.StrictAtomicity})
	if err == nil {
		m.told.barriers[id] = len(s.check.lasting)
	}
}

func (s *run) delivered(n *sim.Node, d broadcast.Delivery) {
	m := s.members[n.ID()-1]
	s.check.hears(m, &d)
	if d.Payload[0] == 1 && d.Class == broadcast.ClassOrdered {
		id := opID(d.Payload[1:17])
		m.inView = append(m.inView, id)
		if m.own(&d) {
			m.told.owed[d.ID] = true
		}
	}
	s.perform(m, m.replica.HandleDelivery(n.Instant(), d, nil))
	if r := m.replica; r.Settled() && r.Standing() == replica.Pending && r.Queued() > s.load.replica.MaxQueued {
		if p, _ := r.Progress(); uint64(r.Queued()) > p.Total {
			s.check.fail("queue", m, "%d bytes wait, more than %d and the %d of the snapshot", r.Queued(), s.load.replica.MaxQueued, p.Total)
		}
	}
}

func (s *run) entered(n *sim.Node, v *membership.View) {
	m := s.members[n.ID()-1]
	s.check.leaves(m, v)
	m.view, m.merged, m.inView, m.views = v, false, nil, true
	s.check.entersSince(m)
	s.check.knows(m)
	s.perform(m, m.replica.HandleInstalled(n.Instant(), v, m.base, nil))
}

// perform performs the effects of a replica. The calls of the application wait for
// each other.
func (s *run) perform(m *member, out []replica.Effect) {
	for e, err := range replica.Each(out) {
		if err != nil {
			s.check.fail("replay", m, "%v", err)
			return
		}
		switch e.Kind {
		case replica.Broadcast:
			if e.Payload[0] == blocksReused {
				s.w.Sometimes(Reused)
			}
			m.sendQueue = append(m.sendQueue, *e)
			s.send(m, 0)
		case replica.Notify:
			s.event(m, e.Event)
		case replica.Withdraw:
			s.withdraws(m)
		default:
			m.calls = append(m.calls, *e)
			s.check.decides(m, e)
			if e.Kind == replica.Merge {
				m.merged = true
				s.check.merges(m, e)
			}
		}
	}
	if m.replica.Current() && m.view != nil && s.opt.Quorum {
		m.reaches(reach{0, m.view.ID.Sequence, math.MaxUint64})
		m.remembers = true
	}
	s.work(m)
	m.alarm.Stop()
	if at := m.replica.Deadline(); at != timed.Never {
		m.alarm = m.after(at.Sub(m.n.Instant()), func() { s.perform(m, m.replica.HandleTimeout(m.n.Instant(), nil)) })
	}
}

// send broadcasts the send queue, as far as the window allows. Messages of another
// queue go on while some wait.
func (s *run) send(m *member, after time.Duration) {
	if m.sending {
		return
	}
	m.sending = true
	m.after(after, func() {
		m.sending = false
		var waits [replica.Queues]bool
		m.sendQueue = slices.DeleteFunc(m.sendQueue, func(e replica.Effect) bool {
			if waits[e.Queue()] {
				return false
			}
			payload, err := e.Message()
			if err == nil {
				s.damages(&e, payload)
				var id broadcast.ID
				if id, err = m.n.Broadcast(payload, e.Options); err == nil && len(payload) == 1 {
					m.told.barriers[id] = len(s.check.lasting) // the replica's own
				}
			}
			if errors.Is(err, broadcast.ErrWindowFull) || errors.Is(err, sim.ErrNotRunning) {
				waits[e.Queue()] = true
				return false
			}
			if err != nil && !errors.Is(err, broadcast.ErrNoQuorum) && !errors.Is(err, broadcast.ErrLeaving) {
				s.check.fail("refused", m, "%v", err)
			}
			return true
		})
		if len(m.sendQueue) > 0 {
			s.send(m, time.Millisecond)
		}
	})
}

// work lets the application perform its next call.
func (s *run) work(m *member) {
	if m.busy || len(m.calls) == 0 || m.disk.blocked() {
		return
	}
	m.busy = true
	m.after(time.Duration(s.rand.Below(s.load.slow)), func() {
		e := m.calls[0]
		m.calls = m.calls[1:]
		m.busy = false
		s.call(m, &e)
		s.work(m)
	})
}

// call performs one call of the application.
func (s *run) call(m *member, e *replica.Effect) {
	now := m.n.Instant()
	switch e.Kind {
	case replica.Apply:
		s.keepBefore(m, e)
		answer, fresh := m.app.apply(e.Delivery.Payload)
		if !fresh {
			s.check.fail("twice", m, "operation %x is applied to a state that has it", e.Delivery.Payload[:16])
		}
		if a, ok := answer.(session.Answer); ok && m.own(&e.Delivery) {
			s.answered(m, opID(e.Delivery.Payload[:16]), a, e.Lasting)
		}
	case replica.Barrier:
		s.check.passes(m, e)
	case replica.Snapshot:
		b := m.app.snapshot()
		if s.rand.Chance(s.load.refuse) && !s.done {
			s.w.Sometimes(Refused)
			s.perform(m, m.replica.HandleSnapshot(now, e.Name, nil, errors.New("not now"), nil))
			return
		}
		s.check.snapshot(m, e.Name, b)
		c := s.load.replica.NewContent()
		_, err := c.Write(b)
		s.perform(m, m.replica.HandleSnapshot(now, e.Name, c, err, nil))
	case replica.Restore:
		s.w.Sometimes(Restored)
		b := bytesOf(e.State)
		s.check.snapshot(m, e.Name, b)
		m.app.restore(b)
	case replica.Merge:
		s.w.Sometimes(Merged)
		s.check.inputs(m, e)
		m.app.merge(e.Branches)
	case replica.Hash:
		s.perform(m, m.replica.HandleHash(now, e.At, m.app.history, nil))
	}
	s.keep(m, e)
}

// event handles what a replica reports.
func (s *run) event(m *member, e *replica.Event) {
	switch e.Kind {
	case replica.EventStartedOver:
		s.w.Sometimes(StartedOver)
	case replica.EventProgress:
		s.cutShort(m, e)
	case replica.EventTooLarge:
		s.declines(m)
	case replica.EventRolledBack:
		m.saidBehind = e.Members
	case replica.EventSettled:
		s.check.judges(m)
	case replica.EventWaiting:
		m.begun = true
		s.check.judges(m)
		s.w.Sometimes(Waited)
		s.declare(m)
		s.permit(m)
	case replica.EventBegun:
		m.begun = true
		s.check.begins(m, e)
	case replica.EventDiscarded:
		s.w.Sometimes(Discarded)
		clear(m.must) // its state is not the group's, and it knows
		if !s.opt.Quorum {
			s.check.fail("discard", m, "discards its state without a quorum")
		}
	case replica.EventStateLost:
		s.w.Sometimes(Lost)
	case replica.EventDiverged:
		s.w.Sometimes(Diverged)
		// Two snapshots of one state may be taken for two inputs of a merge.
		if !s.load.untidy || !e.At.View.None() {
			s.check.fail("diverged", m, "at %v from node %d: %x, %x there", e.At, e.Member, e.Ours, e.Theirs)
		}
	case replica.EventCorrupt:
		s.w.Sometimes(Corrupt)
		if !s.opt.Corrupt {
			s.check.fail("corrupt", m, "%v from %d", e.Name, e.Member)
		}
	}
}
