package replicate

import (
	"context"
	"fmt"
	"time"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/replicate/internal/engine"
)

// Freshness describes how up to date a state was when it was read, by this node's hardware
// clock.
type Freshness struct {
	// UpToDate says that the node had the state of its view all the time while it was
	// read, and that this view was up to date when reading had ended: no other up-to-date
	// view anywhere shares a member with it.
	UpToDate bool
	// AtMost is how long the view stays up to date after AsOf unless it is renewed; 0
	// unless UpToDate. It is an upper bound: the node may withdraw the view earlier.
	AtMost time.Duration
	// AsOf is the reading of the hardware clock at which the answer holds.
	AsOf failaware.Instant
	// View is the view of the node, which is empty before the first one. It must not be
	// changed.
	View *failaware.View
	// Situation is the situation of the replica.
	Situation Situation
	// Behind is how many calls of the application were waiting. Most are operations that
	// are delivered to this node, but not yet in the state.
	Behind int
}

// String says how up to date the state was, as in "view 3@1/… of {1 2}, up to date for at most
// 57.2ms; at work".
func (f Freshness) String() string {
	a := failaware.ViewAnswer{View: f.View, UpToDate: f.UpToDate, AtMost: f.AtMost}
	text := fmt.Sprintf("%v; %v", a, f.Situation)
	if f.Behind > 0 {
		text += fmt.Sprintf("; %d calls of the application wait", f.Behind)
	}
	return text
}

// Read calls f while the application is not being changed, and reports what f saw:
// some state of this node, and whether it is that of an up-to-date view. Other members
// may have applied more, or less. Reads go on at the same time, and f may call Read; f must
// not change the application, nor call methods of the replica that wait. Read sends
// nothing. A nil f panics.
func (r *Replica) Read(f func()) (fresh Freshness) {
	needs(f, "Read")
	r.engine.Read(func() {
		s, _ := r.engine.Status()
		has := r.engine.Has(&s)
		f()
		if fresh = r.fresh(progressOf(&s, 0)); !has {
			fresh.UpToDate, fresh.AtMost = false, 0
		}
	})
	return fresh
}

// ReadLatest calls f between two calls of the application, where the state has every
// operation that had been reported as applied to any member of the view before
// ReadLatest was called. With RequireQuorum, reads by ReadLatest and operations by
// [Replica.Submit] are linearizable over the whole group, as long as a quorum of it
// remembers the state; without, over those that share the view. f is called at most once, by
// another goroutine, and not after ReadLatest has returned; it must not change the
// application, nor call methods of the replica that wait.
//
// It broadcasts a message of one byte, and waits until that is possible and the
// message has come back, again and again if views change. The error is that of
// [Replica.Submit] for operations that are not submitted. Then f was not called, or, with
// [Config.Storage], saw a state that need not last, or one that has given way to another
// ([ErrStateReplaced]). A nil f panics before that.
func (r *Replica) ReadLatest(ctx context.Context, f func()) (Freshness, error) {
	needs(f, "ReadLatest")
	var fresh Freshness
	_, err := r.barrier(ctx, func() {
		before := r.Progress()
		f()
		fresh = r.fresh(before)
	})
	return fresh, err
}

// ReadLeased is [Replica.ReadLatest] without a message where the lease of the view allows
// it. The state has every operation with StrictAtomicity, as all of [Replica.Submit] are,
// that had been reported as applied before ReadLeased was called, and everything that
// ReadLatest and ReadLeased had shown to anybody. With RequireQuorum, all of them are
// linearizable over the whole group. Unlike ReadLatest, it rests on clocks: those of all
// nodes of the group must keep MaxDrift.
//
// The caller calls f, between two calls of the application. It waits until this node has
// delivered what it has acknowledged to others, and what f saw is known to last; the view
// must then be up to date. This takes a fraction of a microsecond while nobody writes. If
// the view ends, or operations of another atomicity were the last ones, or nothing has been submitted
// in the view so far, ReadLeased continues as ReadLatest, with its errors: then f is called
// once more, and the last call counts.
func (r *Replica) ReadLeased(ctx context.Context, f func()) (Freshness, error) {
	needs(f, "ReadLeased")
	if view, ok := r.engine.ReadDelivered(ctx, r.reach, f); ok {
		if fresh, ok := leased(view, r.node.View()); ok {
			return fresh, nil
		}
	}
	return r.ReadLatest(ctx, f)
}

// needs panics if the function of a read is nil.
func needs(f func(), read string) {
	if f == nil {
		panic("replicate: " + read + " of a nil function")
	}
}

// leased reports on a read in a view. ok is false if v, which was asked for later, is another
// view or no longer up to date: its members may have acknowledged operations that this node
// has not heard of.
func leased(view failaware.ViewID, v failaware.ViewAnswer) (f Freshness, ok bool) {
	return Freshness{UpToDate: true, AtMost: v.AtMost, AsOf: v.AsOf, View: v.View, Situation: Working}, v.UpToDate && v.View.ID == view
}

// fresh reports on a read that began in the situation before.
func (r *Replica) fresh(before Progress) Freshness {
	return freshness(before, r.Progress(), r.node.View())
}

// freshness reports on a read between two situations. v is the answer of the node after the
// read.
func freshness(before, after Progress, v failaware.ViewAnswer) Freshness {
	f := Freshness{AsOf: v.AsOf, View: v.View, Situation: after.Situation, Behind: after.Behind}
	if v.UpToDate && before.Situation == Working && after.Situation == Working &&
		before.View == after.View && after.View == v.View.ID {
		f.UpToDate, f.AtMost = true, v.AtMost
	}
	return f
}

// Progress is the situation of a replica, and how far the transfer of state to it
// has come.
type Progress struct {
	Situation Situation
	View      failaware.ViewID // the view of the situation
	Accepting bool             // operations are taken
	// Full is why the disk of this node has no room for the state, if it has none: it names the
	// path. Until there is room this node applies nothing, and takes no operations.
	Full error
	// Unstored are the members whose disks lack an operation that has waited for them for more
	// than a second: they are full or slow, or have to get the state first. With a quorum, a
	// minority of such members holds nothing up, and is not named.
	Unstored failaware.Set
	// UnstoredFor is how long it has waited for them. Operations are taken meanwhile, and are
	// acknowledged when those disks have them.
	UnstoredFor time.Duration
	// Absent are the nodes of the group that are missed, if the situation is Recovering.
	Absent failaware.Set
	// Unreported are the members whose states this node has not heard yet, if the situation is
	// Reporting. The others wait for them ([AwaitsReports]).
	Unreported failaware.Set
	// Behind is how many calls of the application wait.
	Behind int
	// From is the node that sends the state that this node waits for; NoNode if none does
	// yet, or several do.
	From failaware.NodeID
	// Bytes of Total have come, of the snapshots that have begun to come.
	Bytes, Total uint64
}

// Progress returns the replica's situation and progress. It takes no more than two
// short locks.
func (r *Replica) Progress() Progress {
	s, _ := r.engine.Status()
	return progressOf(&s, r.engine.Behind())
}

func progressOf(s *engine.Status, behind int) Progress {
	return Progress{Situation: s.Situation, View: s.View, Accepting: s.Accepting, Full: s.Full, Unstored: s.Unstored, UnstoredFor: s.UnstoredFor, Absent: s.Absent, Unreported: s.Unreported, Behind: behind,
		From: s.Progress.From, Bytes: s.Progress.Bytes, Total: s.Progress.Total}
}
