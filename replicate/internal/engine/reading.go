package engine

import (
	"context"
	"time"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/replica"
	"github.com/failaware/failaware/membership"
)

// A read without a message, at node m in the quorate view V, notes the last decision that m
// may have acknowledged, which the loop publishes before a packet says so (Reach.Have). It
// waits until the state has everything through it, reads, waits until all that it saw is
// sure, and then V must be up to date.
//
// Reads are linearizable, with Submit of lasting operations. Let Submit return before the
// read begins. All members of the view W had acknowledged the message that made the operation
// last. If W is V, the state has it, by the wait for Have. If W is later, it was
// committed before V is found up to date; V and W are quorate and share a member, and from the
// commit of W on no earlier view that shares a member with it is up to date anywhere. If W
// is earlier, V began with the operation. The same holds for what an earlier read has shown,
// because it was sure. A Submit or ReadLatest that begins after a read in V is ordered behind
// all that the read saw: in V, or in a later view, since an earlier one would need the
// acknowledgement of a member that has left it. So writers wait for nothing more.

// reading is a read in a view that sends nothing.
type reading struct {
	*Engine
	reach    func() (broadcast.Reach, bool)
	view     membership.ViewID
	have     uint64 // the decision through which the state must be
	placed   bool   // position is known
	position uint64 // of the last delivery that this takes
	counted  bool   // calls is known
	calls    uint64 // that this takes
	last     uint64 // the position of the last operation that f may have seen
}

// ReadDelivered calls f while the application is not being changed, with a state that
// contains everything in its view that this node had acknowledged to others when
// ReadDelivered was called. It sends nothing, and waits for deliveries if it must; it
// allocates only then. ok says that the node had the state of the view until the end, and
// that all that f saw is sure ([replica.Extent]). Otherwise f was perhaps called. reach is
// that of package attach.
func (e *Engine) ReadDelivered(ctx context.Context, reach func() (broadcast.Reach, bool), f func()) (view membership.ViewID, ok bool) {
	x, ok := reach()
	r := reading{Engine: e, reach: reach, view: x.View, have: x.Have}
	r.place(x, ok)
	if !ok || !r.await(ctx, r.isApplied) {
		return r.view, false
	}
	e.Read(f)
	now, _, ok := e.extent.load(r.view)
	r.last = now.Last
	if yes, over := r.allSure(now, ok); yes || over {
		return r.view, yes
	}
	return r.view, r.await(ctx, r.isSure)
}

// place notes the position of the last delivery that the read waits for, if this node has
// delivered what the read began with.
func (r *reading) place(x broadcast.Reach, ok bool) {
	r.placed, r.position = ok && x.View == r.view && x.Delivered >= r.have, x.Position
}

// isApplied reports whether the state contains what it must, or that the view is over. Each
// step keeps its goal, which others would move on while they write.
func (r *reading) isApplied() (yes, over bool) {
	now, calls, ok := r.extent.load(r.view)
	if !ok {
		return false, true
	}
	if !r.placed {
		r.place(r.reach())
	}
	if r.placed && !r.counted {
		r.counted, r.calls = now.Seen >= r.position, calls
	}
	return r.counted && r.extent.done.Load() >= r.calls, false
}

// isSure reports whether all that was read is sure, or that the view is over or nothing
// that is under way will make it so.
func (r *reading) isSure() (yes, over bool) {
	now, _, ok := r.extent.load(r.view)
	return r.allSure(now, ok)
}

// allSure is isSure for an extent, if it is one in the view.
func (r *reading) allSure(now replica.Extent, inView bool) (yes, over bool) {
	if !inView || now.Sure > r.last {
		return inView, !inView
	}
	x, ok := r.reach()
	idle := ok && x.View == r.view && x.Delivered == x.Have && now.Seen >= x.Position
	return false, idle && now.Whole <= r.last
}

// patience is how long a reader waits before it looks again without news: a turn of the
// node without deliveries makes none.
const patience = time.Millisecond

// await waits until check says yes, and reports whether it does. A call of the application or
// of event would wait for its own end.
func (r *reading) await(ctx context.Context, check func() (yes, over bool)) bool {
	if yes, over := check(); yes || over || r.Waited() {
		return yes
	}
	x := &r.extent
	x.waiting.Add(1)
	defer x.waiting.Add(-1)
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for ctx.Err() == nil {
		news := x.news()
		if yes, over := check(); yes || over {
			return yes
		}
		select {
		case <-news:
		case <-timer.C:
			timer.Reset(patience)
		case <-ctx.Done():
		}
	}
	return false
}
