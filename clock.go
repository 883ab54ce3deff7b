package failaware

import (
	"context"
	"errors"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/clocksync/ntpserver"
	"github.com/failaware/failaware/clocksync/reference"
	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/internal/loop"
)

// Clock returns group time with its proven deviation. It takes no lock and does
// not allocate; it is safe for concurrent use.
//
// The clock is slewed, and never runs backwards within a timeline. It steps only
// onto another timeline, and an event.ClockStepped says so.
func (n *Node) Clock() Reading { return clockFrom(n.loop.Snapshot, n.clock.Read) }

func clockFrom(load func() *loop.Snapshot, read func() hwclock.Reading) Reading {
	for range tries {
		s := load()
		r, trusted := s.Trust.Read(read)
		// The reading counts as shown before the snapshot is looked at again: readers of
		// a newer snapshot then know of it.
		t := shownAfter(s.Shown, s.Reading(r.Now, trusted && s.Era == r.Era))
		s.Clock.Judge(&t)
		if load() == s {
			return t
		}
	}
	// An older snapshot only means wider bounds, as long as the clock was not found
	// faulty meanwhile; a reading that claims nothing is always right.
	s := load()
	return shownAfter(s.Shown, s.Reading(read().Now, false))
}

// shownAfter returns r, or the latest reading that any reader of the timeline was
// given if r lies before it; the difference is added to the bounds, so that the
// claims still hold. The loop bends the displayed clock at the instant of its turn, a
// little before readers can see that; so a reader of the older snapshot may be given a
// time that the newer one reaches only a moment later.
func shownAfter(shown *atomic.Int64, r Reading) Reading {
	for {
		latest := shown.Load()
		if int64(r.Time) < latest {
			back := clocksync.Time(latest).Sub(r.Time)
			r.Time = clocksync.Time(latest)
			if r.Deviation != clocksync.UnknownBound {
				r.Deviation += back
			}
			if r.UTCBound != clocksync.UnknownBound {
				r.UTCBound += back
			}
			return r
		}
		if shown.CompareAndSwap(latest, int64(r.Time)) {
			return r
		}
	}
}

var errNoBound = errors.New("failaware: CommitWait: the reading has no bound: the clock was not synchronized when it was taken")

// ErrTimelineChanged is why a reading cannot be compared with another one; see
// [clocksync.Order].
var ErrTimelineChanged = clocksync.ErrTimelineChanged

// Limits of the time between two readings of the clock in CommitWait.
const (
	minCommitWait = 10 * time.Microsecond
	maxCommitWait = 10 * time.Millisecond
)

// CommitWait waits until the reading t, of any node, is surely in the past:
// every node that reads its clock afterwards on the same timeline gets a reading that
// [clocksync.Order] does not put before t. That takes about the deviations of t and of
// this node's clock together.
//
// It returns [ErrTimelineChanged] when the timeline of this node is not that of t and
// the two cannot be compared by UTC either, an error when t has no bound, [ErrClosed] when
// the node stops, and the cause of ctx when that is done first. While the clock of this node is
// not synchronized it waits.
func (n *Node) CommitWait(ctx context.Context, t Reading) error {
	for {
		now := n.Clock()
		order, err := clocksync.Order(t, now)
		if err != nil && !now.Timeline.None() {
			return err
		}
		if order == clocksync.Earlier {
			return nil
		}
		if err == nil && t.Timeline == now.Timeline && t.Deviation == clocksync.UnknownBound {
			return errNoBound // nothing is surely later
		}
		wait := maxCommitWait
		if left := t.Latest().Sub(now.Earliest()); left >= 0 {
			wait = min(max(left, minCommitWait), maxCommitWait)
		}
		select {
		case <-time.After(wait):
		case <-n.done:
			return ErrClosed
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// ReferenceStatus is a node's knowledge of an external reference.
type ReferenceStatus struct {
	// Status holds the statistics of a reference that this node asks. Of another node's
	// reference only Source is known.
	reference.Status
	// Node is the node that asks the reference.
	Node NodeID
	// Known says that the reference has a sample that counts. Otherwise the fields below have
	// no meaning.
	Known bool
	// Offset is the distance of the middle of the reference's interval from this node's
	// displayed clock. Bound is half the width of the interval.
	Offset, Bound time.Duration
	Age           time.Duration  // of the sample
	Leap          clocksync.Leap // that it announces for the end of the month
	// Falseticker says that the reference contradicts the known bounds of UTC.
	Falseticker bool
}

// askReferences asks each reference from a goroutine of its own, until the node
// stops.
func (n *Node) askReferences() {
	if len(n.pollers) == 0 {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		<-n.done
		cancel()
	}()
	for _, p := range n.pollers {
		go p.Run(ctx, func(s reference.Sample) { n.loop.HandleSample(s.Sample, s.Era) })
	}
}

// nameOf returns the name of a reference of this node, or "".
func (n *Node) nameOf(id clocksync.SourceID) string {
	for _, p := range n.pollers {
		if st := p.Status(); st.Source == id {
			return st.Name
		}
	}
	return ""
}

// References returns the status of all external references: first the ones that this
// node asks, in the order of its configuration, and then those that its followers ask, if
// it leads. It waits for the loop as [Node.Status] does. It is safe for concurrent use.
func (n *Node) References() []ReferenceStatus {
	list, _ := n.ReferencesOfUTC()
	return list
}

// ReferencesOfUTC returns the status of all external references as [Node.References] does, and
// what the node knows about UTC at that instant.
func (n *Node) ReferencesOfUTC() ([]ReferenceStatus, clocksync.Knowledge) {
	all := n.loop.References()
	known := all.List
	var out []ReferenceStatus
	own := map[clocksync.SourceID]bool{}
	for _, p := range n.pollers {
		r := ReferenceStatus{Status: p.Status(), Node: n.cfg.ID}
		for i := range known {
			if known[i].Source == r.Source {
				own[r.Source] = true
				r.take(&known[i], all.Shown)
			}
		}
		out = append(out, r)
	}
	for i := range known {
		if x := &known[i]; !own[x.Source] {
			r := ReferenceStatus{Status: reference.Status{Source: x.Source}, Node: x.Node}
			r.take(x, all.Shown)
			out = append(out, r)
		}
	}
	return out, n.missed(all.UTC)
}

// missed returns the knowledge of UTC, and lacks nothing that nobody misses: neither this node
// nor its leader have references, as far as this node can tell.
func (n *Node) missed(k clocksync.Knowledge) clocksync.Knowledge {
	if len(n.pollers) == 0 && k.State == clocksync.UTCUnknown && (k.Lack == clocksync.LackLeader || k.Lack == clocksync.LackReferences && k.Count == 0) {
		k.Lack = clocksync.LackNothing
	}
	return k
}

// take fills in what the clock knew of the reference when it showed the time shown.
func (r *ReferenceStatus) take(x *clocksync.ReferenceInfo, shown GroupTime) {
	r.Known, r.Age, r.Leap, r.Falseticker = true, x.Age, x.Leap, x.Falseticker
	r.Bound = x.High.Sub(x.Low)/2 + 1
	r.Offset = x.Low.Sub(shown) + r.Bound
}

// rateWatcher is what a node does with the findings about the kernel's clock.
type rateWatcher Node

// WarnUnwatched implements [hwclock.Watcher].
func (w *rateWatcher) WarnUnwatched(err error) {
	(*Node)(w).logLater(hclog.Warn, "cannot ask the kernel for the rate error of its clock: a clock that breaks MaxDrift may go unnoticed", "error", err)
}

// JudgeRate implements [hwclock.Watcher].
func (w *rateWatcher) JudgeRate(v hwclock.Verdict, s hwclock.Status) {
	n := (*Node)(w)
	level := hclog.Warn
	if v == hwclock.RateFine || v == hwclock.RateUnknown {
		level = hclog.Info
	}
	n.logLater(level, "the rate error of the hardware clock is "+v.String(),
		"ppb", s.RateError, "maxdrift", int64(n.cfg.Timing.MaxDrift))
	n.loop.JudgeRate(v)
}

// NTPAddr returns the address of the node's NTP server, or the zero AddrPort if it has
// none.
func (n *Node) NTPAddr() netip.AddrPort { return n.outputs.Addr() }

// NTPStats returns the counts of the node's NTP server; ok is false if it has none.
func (n *Node) NTPStats() (s ntpserver.Stats, ok bool) {
	if ntp := n.outputs.NTP(); ntp != nil {
		return ntp.Stats(), true
	}
	return s, false
}
